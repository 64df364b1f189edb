"""The rules of the game: read-only tables, the state of B games, and the functions that play them, in numpy."""
