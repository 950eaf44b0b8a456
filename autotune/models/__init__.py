"""Analysis of sweeps: in-core time of the compiled loop, and traffic by reuse distance."""
