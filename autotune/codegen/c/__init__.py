"""C text from loop trees: programs to run, sweeps to analyse, kernels for kerncraft."""
