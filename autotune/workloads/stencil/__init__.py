"""The workload of stencils on grids, swept by generated code."""
