"""The workload of initial value problems, solved by generated code of PIRK methods."""
