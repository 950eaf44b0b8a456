"""What other tools measured: the command, its flow, its words."""
