"""Programs of a user from YAML: the program, its model, and how their values are written."""
