"""Matches and tournaments: is one agent better than another, and how strong is each of many."""
