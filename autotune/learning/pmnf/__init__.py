"""Performance model normal form, as in Extra-P: how a time grows with one to three parameters."""

from autotune.learning.pmnf.goodness_of_fit import GoodnessOfFit
from autotune.learning.pmnf.one_parameter import EXPONENTS, Exponents, Single, search
from autotune.learning.pmnf.pmnf_model import FittedPmnf, Pmnf
from autotune.learning.pmnf.several_parameters import combine

__all__ = [
    "EXPONENTS",
    "Exponents",
    "FittedPmnf",
    "GoodnessOfFit",
    "Pmnf",
    "Single",
    "combine",
    "search",
]  # fmt: skip
