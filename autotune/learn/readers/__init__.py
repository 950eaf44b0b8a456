"""Readers of measurements: SPL Conqueror, Extra-P, CSV, T4 and Kernel Tuner."""

from autotune.learn.readers.detect import FORMATS, Format
from autotune.learn.readers.files import read, read_one
from autotune.learn.readers.series import Columns
from autotune.learn.readers.spl_model import VariabilityModel, read_model

__all__ = ["FORMATS", "Columns", "Format", "VariabilityModel", "read", "read_model", "read_one"]
