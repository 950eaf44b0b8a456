"""``autotune assert check``: from records to verdicts and an exit code."""
