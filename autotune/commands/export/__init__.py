"""The choice for the application: the command, what it does, what it prints."""
