"""Models of candidates: in-core time, data traffic, kerncraft, and the engines built on them."""
