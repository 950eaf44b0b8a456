"""Wrappers around MPI that count its messages."""
