"""Small checked languages: expressions, constraints, marks of loops in source files."""
