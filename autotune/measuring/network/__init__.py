"""MPI cost curves: benchmark, other tools' output, regression."""
