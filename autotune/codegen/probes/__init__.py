"""Probes: programs that do one part of the work of a sweep, to be measured alone."""
