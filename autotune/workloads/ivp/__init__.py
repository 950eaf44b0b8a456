"""A workload: initial value problems, solved by generated code of PIRK methods."""
