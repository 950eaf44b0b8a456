"""A study as an Optuna journal: the command, what it does, what it prints."""
