"""Machine files and this host: the command, what it does, what it prints."""
