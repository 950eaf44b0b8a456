"""What can be tuned: each kind of problem behind one protocol, ``Workload``."""
