"""OSACA in worker processes behind pipes, and its answers about instruction forms."""
