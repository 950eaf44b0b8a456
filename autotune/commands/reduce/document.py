"""The document of ``autotune reduce``: what the differences of a winner are worth, what is left."""

from dataclasses import dataclass
from typing import Literal

from autotune.commands.reduce.flow import ReducedStudy
from autotune.domain.metric import Metric
from autotune.domain.variant import Value
from autotune.statistics.drift import Contest
from autotune.tuning.elimination import Ablation, Fate


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRatio:
    """A cost over another one, measured in the same rounds, with a 90 % interval."""

    value: float
    low: float
    high: float
    rounds: int

    @classmethod
    def of(cls, comparison: Contest | None) -> "CostRatio | None":
        """The ratio of a comparison; None without one."""
        if comparison is None:
            return None
        low, high, rounds = comparison.low, comparison.high, comparison.rounds
        return cls(value=comparison.ratio, low=low, high=high, rounds=rounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingWorth:
    """A setting in which the winner differs from the baseline, and what it is worth."""

    name: str
    value: Value
    baseline: Value
    kept: bool
    fate: Fate
    """``same program``: without it the same is run; ``forbidden``: by a constraint."""
    without: CostRatio | None
    """Cost of the winner without it over that of the winner; null where that was not measured."""
    without_later: CostRatio | None
    """The same of what was left of the winner, the last time that it was left out of that; null
    where it was not."""
    influence: float | None
    """The same by the influence model of the study's samples, minus 1; null without a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReduceDocument:
    """``autotune reduce --json``. Costs are seconds where the time is optimised."""

    schema: Literal["autotune.reduce/1"] = "autotune.reduce/1"
    study: str
    problem: str
    objective: Metric
    winner: str
    """Id."""
    baseline: str
    reduced: str
    settings: tuple[SettingWorth, ...]
    """Those worth most first."""
    speedup: CostRatio | None
    """Cost of the baseline over that of the reduced winner; null where they are the same program
    or share no round."""
    speedup_winner: CostRatio | None
    """Cost of the baseline over that of the winner."""
    reduced_over_winner: CostRatio | None
    """Null where they are the same program, too."""
    final: bool
    """The ratios are of rounds that came after all decisions."""
    noise: float
    """Relative standard deviation of the cost of a launch within its round."""
    commands: tuple[str, ...]
    """Command lines that build and run the reduced winner; empty for generated code."""
    cut: str
    """Why it ended early; empty if it did not."""

    @classmethod
    def of(cls, result: ReducedStudy) -> "ReduceDocument":
        """The document of a reduced winner."""
        reduction = result.reduction
        return cls(
            study=result.study,
            problem=result.problem.label,
            objective=result.problem.problem.goal,
            winner=reduction.winner.id,
            baseline=reduction.baseline.id,
            reduced=reduction.reduced.id,
            settings=tuple(_worth(result, ablation) for ablation in result.ablations),
            speedup=CostRatio.of(reduction.reduced_speed),
            speedup_winner=CostRatio.of(reduction.winner_speed),
            reduced_over_winner=CostRatio.of(reduction.reduced_cost),
            final=reduction.final,
            noise=reduction.noise,
            commands=result.commands,
            cut=reduction.cut,
        )


def _worth(result: ReducedStudy, ablation: Ablation) -> SettingWorth:
    difference = result.differences[ablation.difference]
    again = {a.difference: a.cost for a in result.reduction.later}
    return SettingWorth(
        name=difference.name,
        value=difference.value,
        baseline=difference.baseline,
        kept=difference.name in result.reduction.kept,
        fate=ablation.fate,
        without=CostRatio.of(ablation.cost),
        without_later=CostRatio.of(again.get(difference.name)),
        influence=result.shares.get(difference.name),
    )
