"""Probes: programs that do one part of the work of a sweep, so that the part can be timed alone."""
