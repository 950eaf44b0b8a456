"""MPI cost curves: own benchmark, output of other tools, regression."""
