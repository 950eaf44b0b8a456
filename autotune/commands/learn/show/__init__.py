"""What a file holds to learn from: the command, what it does, what it prints."""
