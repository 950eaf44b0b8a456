"""Which size keeps the time: the command, its flow, its words."""
