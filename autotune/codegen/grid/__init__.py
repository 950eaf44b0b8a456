"""Sweeps over the points of a grid: programs of stencils, and their C text."""
