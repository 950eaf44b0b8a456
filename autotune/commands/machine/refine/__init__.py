"""What a study says of the constants of a machine: the command, its flow, its words."""
