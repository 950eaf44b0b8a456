"""Engine ``reuse``: compiled loops in core, traffic by reuse distance."""
