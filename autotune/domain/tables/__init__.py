"""Tables of measurements to learn from: parameters, rows, constraints."""
