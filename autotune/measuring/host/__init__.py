"""This host: detected from the operating system, and calibrated by measurement."""
