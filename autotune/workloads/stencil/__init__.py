"""A workload: stencils on grids, swept by generated code."""
