"""What a study says of the constants of a machine: the command, what it does, what it prints."""
