"""The measurement of one candidate: the command, what it does, what it prints."""
