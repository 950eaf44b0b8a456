"""``autotune assert show``: the call paths and counts of a recorded run."""
