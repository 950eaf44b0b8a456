"""Engine ``program``: predicts external programs by models that the user states."""
