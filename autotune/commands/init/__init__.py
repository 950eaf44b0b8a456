"""A first description of a program: the command, what it does, what it prints."""
