"""A study as an Optuna journal: the command, its flow, its words."""
