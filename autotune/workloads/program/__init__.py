"""The workload of a user's programs, built and run by their own commands."""
