"""A program that is built and run, to see what it prints and what changes its work."""
