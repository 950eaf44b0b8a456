"""The document of ``autotune map``."""

from dataclasses import dataclass
from typing import Literal

from autotune.domain.decision_map import DecisionMap


@dataclass(frozen=True, slots=True, kw_only=True)
class MapDocument:
    """``autotune map --json``: the maps of a study; contenders are named by their index."""

    schema: Literal["autotune.map/1"] = "autotune.map/1"
    study: str
    store: str
    rule: str = "nearest number of threads, then nearest size, by ratio"
    """Between the cells."""
    maps: tuple[DecisionMap, ...]
