"""What the records of a run say of its assertions: verdicts, sizes, causes."""
