"""Generated programs on this host: built, verified against a reference, and timed."""
