"""Reference states and the comparison of a candidate with them."""
