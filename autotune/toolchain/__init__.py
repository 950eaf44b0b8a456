"""Compilers, MPI, launchers, child processes with limits, and the build cache."""
