"""Recorded search spaces: every candidate with its measured time, in file formats of many tools."""
