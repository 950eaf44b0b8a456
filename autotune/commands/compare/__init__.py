"""A published table compared with our predictions: the command, what it does, what it prints."""
