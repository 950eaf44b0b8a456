"""Performance model normal form, as in Extra-P: how a time grows with one to three parameters."""

from autotune.learn.pmnf.figures import Figures
from autotune.learn.pmnf.model import FittedPmnf, Pmnf
from autotune.learn.pmnf.several import combine
from autotune.learn.pmnf.single import EXPONENTS, Exponents, Single, search

__all__ = [
    "EXPONENTS", "Exponents", "Figures", "FittedPmnf", "Pmnf", "Single", "combine", "search",
]  # fmt: skip
