"""A workload: programs of the user's, built and run as they say."""
