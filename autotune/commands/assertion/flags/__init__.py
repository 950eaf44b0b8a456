"""``autotune assert flags``: what a compiler needs for a program with assertions."""
