"""Modeling assertions: what a program says about its own counts, checked in a run."""
