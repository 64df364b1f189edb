"""Agents that learn. They import genial_env; it never imports them. torch is allowed here."""
