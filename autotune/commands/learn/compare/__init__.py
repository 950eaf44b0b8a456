"""Models against one another: the command, its flow, its words."""
