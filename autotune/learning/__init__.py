"""Models learned from measurements, the designs they are trained on, and how they compare."""
