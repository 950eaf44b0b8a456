"""OSACA behind a pipe: its worker processes, and what it says of instruction forms."""
