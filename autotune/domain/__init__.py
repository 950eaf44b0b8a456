"""The concepts of the field as frozen, checked values, independent of YAML, SQL and terminals."""
