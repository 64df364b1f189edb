"""Tests: also the second manual of the rules."""
