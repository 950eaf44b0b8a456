"""The whole flow: config -> machine -> candidates -> predictions -> study -> report.

Each module is one stretch of it; ``rank`` does not load what only ``tune`` needs.
"""
