"""Loops that the user's source marks, found in the assembly of that source."""
