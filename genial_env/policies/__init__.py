"""Policies that play: scripted, searching and learned ones."""
