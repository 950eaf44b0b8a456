"""The run time of modeling assertions: C library, Fortran module, Python surface."""
