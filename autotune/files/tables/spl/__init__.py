"""Variability models, constraints and measurements of SPL Conqueror."""
