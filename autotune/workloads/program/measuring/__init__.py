"""Programs of a user, built, run and timed."""
