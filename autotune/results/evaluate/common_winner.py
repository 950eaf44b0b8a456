"""One winner over all problems of a study, such as several inputs of one program."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from autotune.domain.setup import WinnerRule
from autotune.domain.variant import Build, ExecutionLayout
from autotune.files.store.records import CandidateRecord, StudyRecord
from autotune.results.evaluate.study_evaluation import EvaluatedCandidate, ProblemEvaluation
from autotune.statistics.drift import share_of_each

RULE, WEIGHTS = "winner", "weights"
"""Conditions of a run: how one winner is chosen over all problems, and the weights of these."""
_NORMAL = 1.645
"""Standard deviations on either side of the middle of a 90 % interval."""

Choice = tuple[str, Build, ExecutionLayout]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonCandidate:
    """A choice of variant, build and layout that was measured in every problem."""

    variant: str
    layout: str
    compiler: str
    flags: tuple[str, ...]
    ratios: tuple[float, ...]
    """Cost over that of the best of each problem, at least 1."""
    score: float
    """The ratios as one number by the rule of the study; 1: the best in every problem."""
    error: float
    """Standard deviation of the logarithm of the score."""
    baseline: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonWinner:
    """The candidates that were measured in every problem, the best over all problems first."""

    rule: WinnerRule
    weights: tuple[float, ...]
    """Of the problems, in their order; their sum is 1."""
    candidates: tuple[CommonCandidate, ...]

    @property
    def best(self) -> CommonCandidate:
        """The winner: the baseline, where it is not told apart from the candidate that is best."""
        return next((c for c in self.rivals if c.baseline), self.candidates[0])

    @property
    def baseline(self) -> CommonCandidate | None:
        """The baseline; None where it was not measured in every problem."""
        return next((c for c in self.candidates if c.baseline), None)

    @property
    def rivals(self) -> tuple[CommonCandidate, ...]:
        """The candidates that are not told apart from the first one, with 95 % for all of them."""
        first, *others = self.candidates
        deviations = NormalDist().inv_cdf((1 + share_of_each(len(others))) / 2)
        return tuple(
            c
            for c in others
            if math.log(c.score / first.score) <= deviations * math.hypot(c.error, first.error)
        )


def common_winner(study: StudyRecord, problems: Sequence[ProblemEvaluation]) -> CommonWinner | None:
    """The winner over all problems, by the rule of the last run; None for studies that want a
    winner of each problem, and where no candidate was measured in all.
    """
    conditions = study.runs[-1].conditions if study.runs else {}
    rule = _rule(conditions)
    if rule == "each" or len(problems) < 2:
        return None
    stated = [float(word) for word in str(conditions.get(WEIGHTS, "")).split(", ") if word]
    weights = stated if len(stated) == len(problems) else [1.0] * len(problems)
    shares = tuple(weight / sum(weights) for weight in weights)
    tables = [
        {_choice(row.candidate): row for row in p.rows if row.compared and row.measured}
        for p in problems
    ]
    if not all(tables):
        return None
    in_all = [choice for choice in tables[0] if all(choice in table for table in tables)]
    least = [min(row.measured or math.inf for row in table.values()) for table in tables]
    candidates = [_scored([t[choice] for t in tables], least, shares, rule) for choice in in_all]
    ordered = sorted(candidates, key=lambda c: (c.score, c.variant, c.layout))
    return CommonWinner(rule=rule, weights=shares, candidates=tuple(ordered)) if ordered else None


def _rule(conditions: Mapping[str, object]) -> WinnerRule:
    match conditions.get(RULE):
        case "geometric mean":
            return "geometric mean"
        case "worst":
            return "worst"
    return "each"


def _choice(candidate: CandidateRecord) -> Choice:
    return candidate.variant, candidate.build, candidate.layout


def _scored(
    rows: Sequence[EvaluatedCandidate],
    least: Sequence[float],
    shares: Sequence[float],
    rule: WinnerRule,
) -> CommonCandidate:
    ratios = [(row.measured or math.inf) / best for row, best in zip(rows, least, strict=True)]
    errors = [_error(row) for row in rows]
    if rule == "worst":
        worst = max(range(len(ratios)), key=lambda i: ratios[i])
        score, error = ratios[worst], errors[worst]
    else:
        score = math.exp(sum(w * math.log(r) for w, r in zip(shares, ratios, strict=True)))
        error = math.hypot(*(w * e for w, e in zip(shares, errors, strict=True)))
    candidate = rows[0].candidate
    return CommonCandidate(
        variant=candidate.variant,
        layout=candidate.layout.words,
        compiler=candidate.build.compiler,
        flags=candidate.build.flags,
        ratios=tuple(ratios),
        score=score,
        error=error,
        baseline=all(row.candidate.baseline for row in rows),
    )


def _error(row: EvaluatedCandidate) -> float:
    """Standard deviation of the logarithm of a measured cost, from its 90 % interval."""
    if row.interval is None:
        return 0.0
    low, high = row.interval
    return math.log(high / low) / (2 * _NORMAL)
