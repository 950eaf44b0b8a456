"""Engine ``reuse``: in-core times of compiled loops, and traffic by reuse distance."""
