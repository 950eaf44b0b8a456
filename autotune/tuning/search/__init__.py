"""Search over a list of legal candidates: which to measure next, given the results so far."""
