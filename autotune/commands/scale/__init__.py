"""Which size keeps the time on more processors: the command, what it does, what it prints."""
