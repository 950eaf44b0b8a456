"""Cycles of a loop from its instructions: ports, dependency chains, store forwarding."""
