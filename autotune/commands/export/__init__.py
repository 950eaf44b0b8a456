"""Export of choices and results: the command, what it does, what it prints."""
