"""Engine ``reuse``: the in-core times of compiled loops, and data traffic from reuse distances."""
