"""Analytical models as formulas: they evaluate over arrays, print themselves, split into terms.

base        the protocol; a term: a coefficient times powers and logarithms of parameters
polynomial  sums of such products, with the arithmetic that expands a compact form
smg2000     SMG2000 in one, two and three dimensions
boomeramg   BoomerAMG level by level, with penalties of distance, bandwidth and cores
planes      the cache-miss model of stencils: planes of lines per level
fmm         the fast multipole method: particles and multipoles, arithmetic and memory
ecm         what an engine predicted for one candidate, as a formula of the problem size
named       those that a few constants determine, by name
"""
