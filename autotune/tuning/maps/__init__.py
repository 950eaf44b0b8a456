"""Which candidate wins where over size and threads, and what following that may cost. Pure."""
