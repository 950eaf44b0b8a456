"""``autotune tune``: the command, what it does, what it prints."""
