"""Engines against learned models: the command, what it does, what it prints."""
