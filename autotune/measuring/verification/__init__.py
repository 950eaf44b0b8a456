"""Reference states, and the comparison of a candidate's state with them."""
