"""Functions that pick their variant when they are called."""
