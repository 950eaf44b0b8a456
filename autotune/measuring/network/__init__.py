"""Cost curves of MPI operations: autotune's benchmark, the output of other tools, and
regression.
"""
