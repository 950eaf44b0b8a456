"""Runs OSACA in worker processes behind pipes, and stores its answers about instruction forms."""
