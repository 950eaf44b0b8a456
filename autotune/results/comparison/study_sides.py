"""Stored studies beside one another: who is faster, and what that rests on.

Two studies are two runs, often of other days. Candidates that both measured say how much the host
differs between them; without any, an assumption does (``statistics.run_drift``).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autotune.domain.results import Prediction
from autotune.files.store.records import RunRecord, StudyRecord
from autotune.results.comparison.side_comparison import (
    ComparedProblem,
    PairVerdict,
    RatioRange,
    SideComparison,
    SideFacts,
    SideWinner,
    combined,
    faster,
    same_settings,
)
from autotune.results.evaluate.comparable import ComparableRun, comparable_run
from autotune.results.evaluate.problem_difference import comparable_with
from autotune.results.evaluate.study_evaluation import (
    EvaluatedCandidate,
    ProblemEvaluation,
    evaluate,
    varied,
)
from autotune.results.explanation.explained import ExplainedCandidate
from autotune.results.explanation.reasons import against
from autotune.results.report.number_words import percent, signed
from autotune.statistics.distributions import student
from autotune.statistics.quantiles import MAD_TO_DEVIATION
from autotune.statistics.run_drift import RUN_SHIFT
from autotune.units import counted

_SHOWN = 0.9
_FREEDOM = 4.0
"""Degrees of freedom of the assumed shift between runs."""
_LEAST_SHARED = 3
"""Fewer candidates that both studies measured say nothing of the drift."""


@dataclass(frozen=True, slots=True)
class StudySide:
    """A study under the name that a user gave it."""

    name: str
    record: StudyRecord
    problems: tuple[ProblemEvaluation, ...]

    @classmethod
    def of(cls, name: str, record: StudyRecord) -> "StudySide":
        """A study with its evaluation."""
        return cls(name, record, evaluate(record).problems)

    @property
    def facts(self) -> SideFacts:
        """What the study is."""
        runs = self.record.runs
        machines = dict.fromkeys(run.machine.title for run in runs)
        return SideFacts(
            name=self.name,
            kind="study",
            words=f"study {self.record.name} of {self.record.created[:10]}",
            machine="; ".join(machines),
            compilers=str(self.record.versions.get("compilers", "")),
            fault="" if any(p.best for p in self.problems) else "it has no measured winner",
        )

    def run(self, problem: ProblemEvaluation) -> RunRecord:
        """The run that the times of a problem are of."""
        return next(run for run in self.record.runs if run.id == problem.run)


def compare_studies(sides: Sequence[StudySide]) -> SideComparison:
    """Compare the first of some studies with the others, problem by problem."""
    first = sides[0]
    problems = [_compared(problem, first, sides[1:]) for problem in first.problems]
    labels = [other.problem for other in first.problems]
    notes = [
        f"{side.name} alone has {problem.label} ({why})"
        for side in sides[1:]
        for problem in side.problems
        if (why := comparable_with(problem.problem, labels)[1])
    ]
    return SideComparison(
        sides=tuple(side.facts for side in sides), problems=tuple(problems), notes=tuple(notes)
    )


def _compared(
    problem: ProblemEvaluation, first: StudySide, others: Sequence[StudySide]
) -> ComparedProblem:
    winners = [_winner(first, problem)]
    pairs: list[PairVerdict] = []
    absent: list[str] = []
    for side in others:
        match, why = comparable_with(problem.problem, [p.problem for p in side.problems])
        other = next((p for p in side.problems if match and p.problem.key == match.key), None)
        if other is None:
            absent.append(f"{side.name}: {why}")
        elif problem.best is None or other.best is None:
            without = first.name if problem.best is None else side.name
            absent.append(f"{side.name}: {without} has no measured winner")
        else:
            winners.append(_winner(side, other))
            pairs.append(_pair(first, problem, side, other))
    return ComparedProblem(
        label=problem.label,
        objective=problem.problem.goal,
        winners=tuple(winner for winner in winners if winner is not None),
        pairs=tuple(pairs),
        not_compared=tuple(absent),
    )


def _winner(side: StudySide, problem: ProblemEvaluation) -> SideWinner | None:
    best = problem.best
    if best is None or best.measured is None:
        return None
    return SideWinner(
        side=side.name,
        candidate=best.candidate.label,
        settings=varied(best.candidate),
        cost=best.measured,
        interval=best.interval,
        measured=True,
        contenders=len(problem.contenders),
        speedup=problem.speedup.value if problem.speedup else None,
        prediction=best.prediction,
    )


def _pair(
    first: StudySide, problem: ProblemEvaluation, second: StudySide, other: ProblemEvaluation
) -> PairVerdict:
    best, rival = problem.best, other.best
    assert best is not None
    assert rival is not None
    one_machine = first.run(problem).machine_identity == second.run(other).machine_identity
    ratio, basis = _ratio(best, rival, _shared_logs(problem, other), one_machine)
    settings, others = varied(best.candidate), varied(rival.candidate)
    same = same_settings(settings, others)
    decided = problem.decided and other.decided
    return PairVerdict(
        first=first.name,
        second=second.name,
        ratio=ratio,
        faster=faster(ratio),
        basis=basis,
        winner="same" if same else "moved" if decided else "undecided",
        keeping=None if same else _keeping(best, second, other),
        explanation=explained(
            (f"{best.candidate.variant} ({first.name})", best.prediction),
            (f"{rival.candidate.variant} ({second.name})", rival.prediction),
            same=same,
        ),
        cautions=tuple(_cautions(first, problem, second, other)),
    )


def _shared_logs(problem: ProblemEvaluation, other: ProblemEvaluation) -> list[float]:
    """Logarithms of cost in the first over cost in the second study of candidates that are the same
    programs and that both compared.
    """
    here = {r.candidate.identity: r.measured for r in problem.rows if r.compared and r.measured}
    there = {r.candidate.identity: r.measured for r in other.rows if r.compared and r.measured}
    return [math.log(here[name] / there[name]) for name in sorted(here.keys() & there.keys())]


def _ratio(
    best: EvaluatedCandidate,
    rival: EvaluatedCandidate,
    shared: Sequence[float],
    one_machine: bool,
) -> tuple[RatioRange, str]:
    """Cost of the first winner over that of the second, and what it rests on.

    On one machine what both studies measured shows by how much the host was slower in one of them,
    and that is taken out.
    """
    assert best.measured is not None
    assert rival.measured is not None
    ratio = best.measured / rival.measured
    halves = [_half(best), _half(rival)]
    if one_machine and len(shared) >= _LEAST_SHARED:
        middle = float(np.median(shared))
        scatter = MAD_TO_DEVIATION * float(np.median(np.abs(np.array(shared) - middle)))
        error = max(scatter, 0.005) / math.sqrt(len(shared))
        halves.append(student(len(shared) - 1, _SHOWN) * error)
        basis = (
            f"the host differs by {signed(math.expm1(middle))} between the two, by"
            f" {counted(len(shared), 'candidate')} that both measured; that is taken out"
        )
        return combined(ratio * math.exp(-middle), halves), basis
    if one_machine:
        halves.append(student(_FREEDOM, _SHOWN) * RUN_SHIFT)
        return combined(ratio, halves), (
            "two runs of one machine; that it differs from run to run by"
            f" {percent(RUN_SHIFT)} is assumed and part of the interval"
        )
    halves.append(student(_FREEDOM, _SHOWN) * RUN_SHIFT)
    return combined(ratio, halves), "two machines, as they were when each was measured"


def _half(row: EvaluatedCandidate) -> float:
    """Half the 90 % interval of the logarithm of a time."""
    if row.interval is None:
        return student(_FREEDOM, _SHOWN) * RUN_SHIFT
    return math.log(row.interval[1] / row.interval[0]) / 2


def _keeping(
    best: EvaluatedCandidate, second: StudySide, other: ProblemEvaluation
) -> RatioRange | None:
    """On the second side, the cost of the first side's winner over that of its own winner."""
    assert other.best is not None
    settings = varied(best.candidate)
    row = next((r for r in other.rows if same_settings(varied(r.candidate), settings)), None)
    if row is None or row.measured is None or other.best.measured is None or not row.compared:
        return None
    members = {r.candidate.identity for r in other.rows}
    run: ComparableRun | None = comparable_run(second.run(other), members)
    ends = None
    if run is not None and row.candidate.identity in run.times and other.best.compared:
        ends = run.ratio(row.candidate.identity, other.best.candidate.identity)
    low, high = ends or (None, None)
    return RatioRange(value=row.measured / other.best.measured, low=low, high=high)


def explained(
    first: tuple[str, Prediction | None], second: tuple[str, Prediction | None], *, same: bool
) -> tuple[str, ...]:
    """What the model says of two winners, given as name and prediction; nothing where one has no
    predicted time. ``same``: they have the same settings.
    """
    (name, ours), (other, theirs) = first, second
    if ours is None or theirs is None or ours.seconds is None or theirs.seconds is None:
        return ()
    if same and ours.parts == theirs.parts:
        return ("the same is predicted of both: the model does not know what changed",)
    return tuple(
        against(
            ExplainedCandidate(name=name, prediction=ours),
            ExplainedCandidate(name=other, prediction=theirs),
        )
    )


def _cautions(
    first: StudySide, problem: ProblemEvaluation, second: StudySide, other: ProblemEvaluation
) -> list[str]:
    """What differs beside the code: machine, compilers, sources, metrics."""
    cautions = []
    a, b = first.run(problem), second.run(other)
    if a.machine_identity != b.machine_identity:
        cautions.append(f"other machines: {a.machine.title} and {b.machine.title}")
    for name in ("compilers", "tools"):
        before, after = a.versions.get(name, ""), b.versions.get(name, "")
        if before != after:
            cautions.append(f"other {name}: {before or 'none'} and {after or 'none'}")
    if not problem.problem.stepped and problem.problem.key != other.problem.key:
        cautions.append("the sources of the program, or what its file says, differ")
    if problem.problem.metrics != other.problem.metrics:
        cautions.append("the program has other metrics")
    return cautions
