"""Judging and showing: evaluation, reports, exports."""
