"""Search over enumerated legal candidates: which to measure next, given what was measured."""
