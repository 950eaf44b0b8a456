"""Time-constrained scaling: which size keeps the time when the processors become more.

Regressions in log2 space on the runs at fewer processors, after Garren, "Using Regression Based
Methods for Time-Constrained Scaling of Parallel Processor Computing Applications" (thesis, 2010).
"""
