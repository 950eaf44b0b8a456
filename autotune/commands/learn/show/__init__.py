"""What a file holds to learn from: the command, its flow, its words."""
