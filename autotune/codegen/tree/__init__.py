"""The loop tree of a candidate, and the transformations that produce it."""
