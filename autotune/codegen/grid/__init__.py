"""Sweeps over grids: programs of stencils, as C."""
