"""What differences this host can resolve now: the command, what it does, what it prints."""
