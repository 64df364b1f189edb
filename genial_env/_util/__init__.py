"""Helpers that know nothing of the game: argument checks, files, strict JSON, orderly ends of programs."""
