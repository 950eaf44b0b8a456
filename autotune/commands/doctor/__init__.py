"""``autotune doctor``: what is installed, and what is missing."""
