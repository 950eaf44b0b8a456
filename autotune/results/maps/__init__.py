"""A decision map as text, figure and document."""
