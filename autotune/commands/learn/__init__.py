"""Learned models and designs: the command, what it does, what it prints."""
