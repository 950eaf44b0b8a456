"""Reading and keeping: YAML, files of other tools, the store."""
