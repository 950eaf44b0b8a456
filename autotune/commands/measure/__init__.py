"""One candidate: the command, what it does, what it prints."""
