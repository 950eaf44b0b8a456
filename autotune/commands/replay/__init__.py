"""Searching a recorded space: the command, its flow, its words."""
