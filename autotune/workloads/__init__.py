"""The kinds of problems that can be tuned, behind one protocol, ``Workload``."""
