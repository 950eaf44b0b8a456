"""Schemas of files and documents: the command, what it lists, its document."""
