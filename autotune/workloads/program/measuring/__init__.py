"""External programs of a user: built, run, verified and timed."""
