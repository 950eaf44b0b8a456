"""The documents of ``autotune assert model``, ``scale``, ``sensitivity`` and the other commands on
models. Times are in seconds, sizes in bytes; formulas are those of ``autotune.language.counts``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autotune.assertions.modelling.studies.elasticities import Elasticity
from autotune.assertions.modelling.studies.message_sizes import MessageSizes
from autotune.assertions.modelling.studies.predicted_time import PredictedTime
from autotune.assertions.modelling.studies.residual_fit import ResidualFit
from autotune.assertions.modelling.studies.scaling_study import ScalingPoint
from autotune.assertions.modelling.studies.variance_shares import VariableShare
from autotune.domain.assertion_record import Count


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalFormula:
    """A total of one rank, or a ratio of totals, as a formula."""

    name: str
    meaning: str
    formula: str
    value: float | None
    """For the values of the model, on rank 0; null where a variable has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionModelDocument:
    """``autotune assert model --json``: a model and its totals as formulas."""

    schema: Literal["autotune.assert.model/1"] = "autotune.assert.model/1"
    name: str
    inputs: Mapping[str, Count | None]
    """With their values in the run that the model was made of; null without one."""
    derived: Mapping[str, str]
    node: str
    """The node that the totals are of; empty: the whole program."""
    totals: tuple[TotalFormula, ...]
    ratios: tuple[TotalFormula, ...]
    notes: tuple[str, ...]
    """What was measured instead of asserted, and how ranks differ."""
    written: tuple[Path, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionScaleDocument:
    """``autotune assert scale --json``: totals over the values of some variables."""

    schema: Literal["autotune.assert.scale/1"] = "autotune.assert.scale/1"
    name: str
    points: tuple[ScalingPoint, ...]
    written: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricShares:
    """Sobol's indices of one total."""

    metric: str
    shares: tuple[VariableShare, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionSensitivityDocument:
    """``autotune assert sensitivity --json``: elasticities, and indices over whole ranges."""

    schema: Literal["autotune.assert.sensitivity/1"] = "autotune.assert.sensitivity/1"
    name: str
    values: Mapping[str, Count]
    rank: int
    elasticities: tuple[Elasticity, ...]
    shares: tuple[MetricShares, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionSkeletonDocument:
    """``autotune assert skeleton --json``: a program, or a trace, of the messages of a model."""

    schema: Literal["autotune.assert.skeleton/1"] = "autotune.assert.skeleton/1"
    name: str
    values: Mapping[str, Count]
    posted: bool
    """Receives are those of the model; otherwise messages are taken as they come."""
    why: str
    written: tuple[Path, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionSizesDocument:
    """``autotune assert sizes --json``: the distribution of message sizes."""

    schema: Literal["autotune.assert.sizes/1"] = "autotune.assert.sizes/1"
    name: str
    values: Mapping[str, Count]
    distribution: MessageSizes


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionTimeDocument:
    """``autotune assert time --json``: the time of a model on a machine."""

    schema: Literal["autotune.assert.time/1"] = "autotune.assert.time/1"
    name: str
    machine: str
    values: Mapping[str, Count]
    predicted: PredictedTime


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionFitDocument:
    """``autotune assert fit --json``: measured over asserted counts, learned from several runs."""

    schema: Literal["autotune.assert.fit/1"] = "autotune.assert.fit/1"
    name: str
    fits: tuple[ResidualFit, ...]
