"""Machine files and this host: the command, its flow, its words."""
