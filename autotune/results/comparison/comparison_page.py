"""The comparison of sides as one HTML page."""
