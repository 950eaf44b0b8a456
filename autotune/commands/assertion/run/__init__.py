"""``autotune assert run``: a program with the library that records, and the check of its run."""
