"""C code of candidates: a loop tree is made, transformed and printed."""
