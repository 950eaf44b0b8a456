"""The data traffic of blocked sweeps over grids."""
