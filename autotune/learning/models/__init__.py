"""Learned models, and analytical ones beside them."""
