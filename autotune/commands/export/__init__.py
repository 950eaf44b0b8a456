"""The choice for the application: the command, its flow, its words."""
