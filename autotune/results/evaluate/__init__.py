"""Predicted against measured: studies and published tables."""
