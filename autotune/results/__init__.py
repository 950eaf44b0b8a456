"""Judging and showing results: evaluation, reports, exports."""
