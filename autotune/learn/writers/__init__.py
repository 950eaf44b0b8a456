"""Writers of measurements: CSV, and the text input of Extra-P."""

from autotune.learn.writers.csvfile import to_csv
from autotune.learn.writers.extrap import to_extrap

__all__ = ["to_csv", "to_extrap"]
