"""Analytical models as formulas: they evaluate over arrays, print themselves, split into terms.

base             the protocol; a term: a coefficient times powers and logarithms of parameters
term_polynomial  sums of terms, with the arithmetic that expands a compact form
smg2000          SMG2000 in one, two and three dimensions
boomeramg        BoomerAMG level by level, with penalties of distance, bandwidth and cores
planes_formula   the cache-miss model of stencils: planes of lines per level
fmm              the fast multipole method: particles and multipoles, arithmetic and memory
ecm_formula      the predictions of an engine for one candidate, as a formula of the problem size
named_formulas   formulas by name, built from a few constants
"""
