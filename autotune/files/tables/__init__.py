"""Readers of tables of measurements: SPL Conqueror, Extra-P, CSV, T4 and Kernel Tuner."""

from autotune.files.tables.format_of_text import FORMATS, Format
from autotune.files.tables.read_table import read, read_one
from autotune.files.tables.series import Columns
from autotune.files.tables.spl.spl_model import VariabilityModel, read_model

__all__ = ["FORMATS", "Columns", "Format", "VariabilityModel", "read", "read_model", "read_one"]
