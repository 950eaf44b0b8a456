"""The content of a file to learn from: the command, what it does, what it prints."""
