"""In-core time of compiled loops by OSACA or a port table."""
