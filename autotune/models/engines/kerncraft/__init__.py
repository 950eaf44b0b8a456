"""Engine ``kerncraft``: the published ECM model, with kerncraft's numbers."""
