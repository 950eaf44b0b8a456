"""Engine ``program``: models of programs of a user."""
