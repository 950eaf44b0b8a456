"""The common part of workloads with generated code."""
