"""Reads and stores data: YAML files, files of other tools, the results store."""
