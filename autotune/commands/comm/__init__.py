"""MPI cost curves: the command, its flow, its words."""
