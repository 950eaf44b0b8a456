"""The Python interface: ``import autotune as at`` offers all of it, loaded at first use."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autotune.api.asking.ask_tell import (
        AskedTrial,
        NothingLeft,
        Study,
    )
    from autotune.api.choosing.tuned import (
        OnlineChoice,
        TunedFunction,
        tuned,
    )
    from autotune.api.parameters import (
        Categorical,
        Flags,
        Integer,
        Ordered,
        Permutation,
        Real,
    )
    from autotune.api.rankings import (
        PredictionResult,
        RankResult,
        predict,
        rank,
    )
    from autotune.api.running_study import (
        RunningStudy,
    )
    from autotune.api.setups import (
        load,
    )
    from autotune.api.study_result import (
        MeasuredTrial,
        StudyResult,
    )
    from autotune.api.tuning_call import (
        load_study,
        tune,
    )
    from autotune.errors import (
        AutotuneError,
        ConfigError,
        InputError,
        MissingTool,
        StoreError,
        WorkFailed,
    )

_MODULES = {
    "autotune.api.asking.ask_tell": (
        "AskedTrial",
        "NothingLeft",
        "Study",
    ),
    "autotune.api.choosing.tuned": (
        "OnlineChoice",
        "TunedFunction",
        "tuned",
    ),
    "autotune.api.parameters": (
        "Categorical",
        "Flags",
        "Integer",
        "Ordered",
        "Permutation",
        "Real",
    ),
    "autotune.api.rankings": (
        "PredictionResult",
        "RankResult",
        "predict",
        "rank",
    ),
    "autotune.api.running_study": ("RunningStudy",),
    "autotune.api.setups": ("load",),
    "autotune.api.study_result": (
        "MeasuredTrial",
        "StudyResult",
    ),
    "autotune.api.tuning_call": (
        "load_study",
        "tune",
    ),
    "autotune.errors": (
        "AutotuneError",
        "ConfigError",
        "InputError",
        "MissingTool",
        "StoreError",
        "WorkFailed",
    ),
}
PLACES = {name: module for module, names in _MODULES.items() for name in names}
"""Every name of the interface, and the module that defines it."""

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
    "load",
    "load_study",
    "predict",
    "rank",
    "tune",
    "tuned",
]


def __getattr__(name: str) -> object:
    if name not in PLACES:
        raise AttributeError(f"module 'autotune.api' has no attribute {name!r}")
    return getattr(importlib.import_module(PLACES[name]), name)
