"""Which rows to measure: the command, what it does, what it prints."""
