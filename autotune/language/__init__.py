"""The checked small languages: expressions, constraints, marks of loops in source files."""
