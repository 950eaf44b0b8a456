"""One model of all rows: the command, its flow, its words."""
