"""Which candidate wins where: the command, what it does, what it prints."""
