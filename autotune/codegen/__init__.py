"""One loop tree per candidate: transformations of it, and C printed from it."""
