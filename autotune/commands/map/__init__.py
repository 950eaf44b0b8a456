"""Which candidate wins where: the command, its flow, its words."""
