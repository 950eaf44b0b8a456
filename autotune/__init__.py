"""Predict, rank, tune and explain the variants of one computation."""

__version__ = "0.1.0"
