"""C code of candidates: makes a loop tree, transforms it and prints it."""
