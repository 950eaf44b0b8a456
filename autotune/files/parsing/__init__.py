"""Plain values from files: text, YAML, JSON, separated values, XML, and the faults of a file."""
