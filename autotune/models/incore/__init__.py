"""The in-core time of compiled loops, from OSACA's tables or a port table."""
