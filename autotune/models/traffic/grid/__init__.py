"""Data traffic of sweeps over grids, block by block."""
