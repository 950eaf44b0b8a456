"""Figures as inline SVG; these modules import matplotlib."""
