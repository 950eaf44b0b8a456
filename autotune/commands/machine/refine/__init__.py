"""Refining the constants of a machine from a study: the command, what it does, what it prints."""
