"""What can be said before anything runs: the command, its flow, its words."""
