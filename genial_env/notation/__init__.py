"""Positions and moves in words and as JSON: what people type, and what programs in other languages exchange."""
