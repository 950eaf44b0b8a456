"""Writers of measurements: CSV, and the text input of Extra-P."""

from autotune.files.tables.writers.extrap_writer import to_extrap
from autotune.files.tables.writers.table_csv import to_csv

__all__ = ["to_csv", "to_extrap"]
