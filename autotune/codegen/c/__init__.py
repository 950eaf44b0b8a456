"""Prints loop trees as C: programs to run, sweeps to analyse, kernels for kerncraft."""
