"""Learned models and designs: the command, its flow, its words."""
