"""Models against one another: the command, what it does, what it prints."""
