"""The machine that autotune runs on: detected from the operating system, and calibrated by
measurement.
"""
