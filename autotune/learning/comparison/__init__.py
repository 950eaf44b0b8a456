"""How learned models compare with one another and with analytical models."""
