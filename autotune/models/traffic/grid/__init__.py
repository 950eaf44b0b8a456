"""Data traffic of sweeps over grids."""
