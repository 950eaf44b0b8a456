"""Python functions as programs of a user: called, timed and checked in worker processes."""
