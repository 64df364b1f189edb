"""Private helpers that are independent of the game: argument checks, files, JSON validation, shutdown of programs."""
