"""Engines compared with learned models: the command, what it does, what it prints."""
