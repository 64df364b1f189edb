"""Agents in other languages: programs that speak a line protocol over their standard input and output."""
