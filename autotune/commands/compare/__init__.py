"""A published table beside our predictions: the command, what it does, what it prints."""
