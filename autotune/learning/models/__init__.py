"""Learned models, and the analytical models they are compared and combined with."""
