"""A published table beside our predictions: the command, its flow, its words."""
