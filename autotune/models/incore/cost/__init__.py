"""Cycles of a loop from its instructions: ports, dependencies, store forwarding, calls."""
