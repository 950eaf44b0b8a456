"""Predict, rank, tune and explain the variants of one computation.

``load``, ``predict``, ``rank``, ``tune`` and the other names of ``__all__`` are the Python
interface (see ``autotune.api``). They are loaded at first use, so that ``import autotune`` stays
fast.
"""

from typing import TYPE_CHECKING

from autotune import api
from autotune.version import VERSION

if TYPE_CHECKING:
    from autotune.api import *  # noqa: F403 - its names, which api lists

__version__ = VERSION
__all__ = ["__version__"]
__all__ += api.__all__


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> object:
    if name in api.__all__:
        return getattr(api, name)
    raise AttributeError(f"module 'autotune' has no attribute {name!r}")
