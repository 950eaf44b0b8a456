"""Engine ``planes``: the cache-miss model of stencils."""
