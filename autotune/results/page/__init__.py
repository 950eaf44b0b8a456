"""HTML pages: one frame and one design for all of them, and their figures as inline SVG."""
