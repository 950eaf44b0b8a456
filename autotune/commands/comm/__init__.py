"""MPI cost curves: the command, what it does, what it prints."""
