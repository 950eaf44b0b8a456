"""Job folders for a batch system, and reading the results of a job."""
