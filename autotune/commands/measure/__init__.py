"""One candidate: the command, its flow, its words."""
