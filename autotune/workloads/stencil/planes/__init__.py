"""Engine ``planes``: the cache-miss model of stencils, and the choice of block sizes."""
