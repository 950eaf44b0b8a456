"""Engines against learned models: the command, its flow, its words."""
