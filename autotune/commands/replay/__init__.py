"""Searching a recorded space: the command, what it does, what it prints."""
