"""Machine files of kerncraft: read as machines, written from machines."""
