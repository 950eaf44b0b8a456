"""Engine ``kerncraft``: the ECM model as published."""
