"""The winner of a study reduced to what matters: the command, what it does, what it prints."""
