"""Other forms of a model: Octave, Python, LaTeX, the paper's texts."""
