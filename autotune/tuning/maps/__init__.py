"""Decision maps: which candidate wins where over size and threads, and what following the map may
cost.

All functions are pure.
"""
