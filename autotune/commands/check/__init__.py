"""Whether what was chosen is slower than it was: the command, what it does, what it prints."""
