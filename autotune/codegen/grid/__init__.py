"""Sweeps over the points of a grid: the programs of stencils, and their C text."""
