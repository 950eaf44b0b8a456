"""Builds generated programs on this host, verifies them against a reference, and times them."""
