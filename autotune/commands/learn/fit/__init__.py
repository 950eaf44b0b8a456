"""One model of all rows: the command, what it does, what it prints."""
