"""Which rows to measure: the command, its flow, its words."""
