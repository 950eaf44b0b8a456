"""Results of other tools: the command, what it does, what it prints."""
