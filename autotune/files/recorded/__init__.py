"""Recorded search spaces: every candidate with its measured time, read from files of many tools."""
