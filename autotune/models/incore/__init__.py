"""In-core time of compiled loops, by OSACA's tables or a port table."""
