"""Studies of those who measure themselves: ask and tell."""
