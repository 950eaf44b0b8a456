"""A first description of a program: the command, its flow, its words."""
