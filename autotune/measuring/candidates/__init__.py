"""Candidates built, verified against the reference, and timed so that the times can be trusted."""
