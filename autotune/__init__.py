"""Predict, rank, tune and explain the variants of one computation.

``load``, ``predict``, ``rank``, ``tune`` and the other names of ``__all__`` are the Python
interface (see ``autotune.api``). They are loaded at first use, so that ``import autotune`` stays
fast.
"""

from typing import TYPE_CHECKING

from autotune.version import VERSION

if TYPE_CHECKING:
    from autotune.api import (
        AskedTrial,
        AutotuneError,
        Categorical,
        ConfigError,
        Flags,
        InputError,
        Integer,
        MeasuredTrial,
        MissingTool,
        NothingLeft,
        OnlineChoice,
        Ordered,
        Permutation,
        PredictionResult,
        RankResult,
        Real,
        RunningStudy,
        StoreError,
        Study,
        StudyResult,
        TunedFunction,
        WorkFailed,
        load,
        load_study,
        predict,
        rank,
        tune,
        tuned,
    )

__version__ = VERSION
__all__ = [
    "AskedTrial",
    "AutotuneError",
    "Categorical",
    "ConfigError",
    "Flags",
    "InputError",
    "Integer",
    "MeasuredTrial",
    "MissingTool",
    "NothingLeft",
    "OnlineChoice",
    "Ordered",
    "Permutation",
    "PredictionResult",
    "RankResult",
    "Real",
    "RunningStudy",
    "StoreError",
    "Study",
    "StudyResult",
    "TunedFunction",
    "WorkFailed",
    "__version__",
    "load",
    "load_study",
    "predict",
    "rank",
    "tune",
    "tuned",
]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> object:
    if name in __all__:
        from autotune import api

        return getattr(api, name)
    raise AttributeError(f"module 'autotune' has no attribute {name!r}")
