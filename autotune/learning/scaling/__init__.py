"""Time-constrained scaling: the problem size that keeps the time constant when processors are
added.

Regressions in log2 space on the runs at fewer processors, after Garren, "Using Regression Based
Methods for Time-Constrained Scaling of Parallel Processor Computing Applications" (thesis, 2010).
"""
