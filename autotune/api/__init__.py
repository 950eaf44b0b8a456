"""The Python interface: ``import autotune as at`` offers all of it, loaded at first use."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autotune.api.entry import (
        PredictionResult,
        RankResult,
        StudyResult,
        load,
        predict,
        rank,
        tune,
    )
    from autotune.api.parameters import (
        Categorical,
        Flags,
        Integer,
        Ordered,
        Permutation,
        Real,
    )

_MODULES = {
    "autotune.api.entry": (
        *("PredictionResult", "RankResult", "StudyResult", "load", "predict", "rank", "tune"),
    ),
    "autotune.api.parameters": (
        *("Categorical", "Flags", "Integer", "Ordered", "Permutation", "Real"),
    ),
}
PLACES = {name: module for module, names in _MODULES.items() for name in names}
"""Every name of the interface, and the module that defines it."""

__all__ = [
    "Categorical",
    "Flags",
    "Integer",
    "Ordered",
    "Permutation",
    "PredictionResult",
    "RankResult",
    "Real",
    "StudyResult",
    "load",
    "predict",
    "rank",
    "tune",
]


def __getattr__(name: str) -> object:
    if name not in PLACES:
        raise AttributeError(f"module 'autotune.api' has no attribute {name!r}")
    return getattr(importlib.import_module(PLACES[name]), name)
