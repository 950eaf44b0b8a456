"""What other tools measured: the command, what it does, what it prints."""
