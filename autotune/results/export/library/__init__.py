"""A library of the chosen code: C, with a Python module and a Fortran interface."""
