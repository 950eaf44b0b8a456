"""The numbers of the figures, without their drawing.

Times are in seconds per time step, sizes in bytes, bandwidths in bytes per cycle.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from autotune.domain.calibration import BandwidthCurve, Calibration
from autotune.domain.machine import Machine
from autotune.domain.metric import TIME, Metric
from autotune.domain.results import Part, Prediction
from autotune.results.evaluate.study_evaluation import (
    EvaluatedCandidate,
    Interval,
    ProblemEvaluation,
)
from autotune.results.report import words
from autotune.units import Hertz

Role = Literal["winner", "baseline", "measured", "predicted"]

COMBINED = ("sweep", "barrier", "communication")
"""The kinds of parts that add up to the predicted time; the others explain a sweep."""


@dataclass(frozen=True, slots=True)
class ShownCandidate:
    """A candidate as figures name it."""

    label: str
    role: Role
    anchor: str = ""
    """Id of its row on the page."""

    def __str__(self) -> str:
        return f"{self.label} ({self.role})" if self.marked else self.label

    @property
    def marked(self) -> bool:
        """Whether figures make it stand out: the winner and the baseline."""
        return self.role in ("winner", "baseline")


@dataclass(frozen=True, slots=True)
class BarSegment:
    """One contribution to the predicted time, as a segment of a bar."""

    name: str
    seconds: float
    extrapolated: bool


@dataclass(frozen=True, slots=True)
class Bar:
    """The predicted time of one candidate by contributions, and its measured time."""

    shown: ShownCandidate
    segments: tuple[BarSegment, ...]
    measured: float | None
    interval: Interval | None

    @property
    def total(self) -> float:
        """Sum of the contributions."""
        return sum(segment.seconds for segment in self.segments)


@dataclass(frozen=True, slots=True)
class Stack:
    """Stacked contributions by loop: winner, baseline, then the best predictions."""

    names: tuple[str, ...]
    """The contributions in the order of the time step."""
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class ScatterPoint:
    """Predicted and measured time of one candidate, as a point of a figure."""

    shown: ShownCandidate
    predicted: float
    predicted_interval: Interval | None
    measured: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Scatter:
    """Predicted against measured times; only candidates of the run of the statistics."""

    points: tuple[ScatterPoint, ...]


@dataclass(frozen=True, slots=True)
class Strip:
    """The samples of one candidate in measuring order."""

    shown: ShownCandidate
    undisturbed: tuple[float, ...]
    disturbed: tuple[float, ...]
    location: float


@dataclass(frozen=True, slots=True)
class Samples:
    """Every sample of the compared candidates, fastest first."""

    strips: tuple[Strip, ...]
    goal: Metric = TIME
    """What the samples are the costs of."""


@dataclass(frozen=True, slots=True)
class Bandwidths:
    """The measured bandwidths of a host, by threads, and the sizes of its caches."""

    curves: tuple[BandwidthCurve, ...]
    clock: Hertz
    """Bytes per cycle times the clock are bytes per second."""
    caches: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """One figure of the machine, and its source."""

    name: str
    value: float
    unit: Literal["frequency", "size", "bandwidth", "throughput", "time", "share", "count"]
    source: str


def role(row: EvaluatedCandidate, result: ProblemEvaluation) -> Role:
    """The role of a candidate in its problem: winner, baseline, measured or predicted only."""
    if result.best and row.candidate.identity == result.best.candidate.identity:
        return "winner"
    if row.candidate.baseline:
        return "baseline"
    return "measured" if row.measured is not None else "predicted"


def shown(row: EvaluatedCandidate, result: ProblemEvaluation) -> ShownCandidate:
    """The candidate of a row as figures name it."""
    return ShownCandidate(words.name(row.candidate, result), role(row, result), anchor(row))


def anchor(row: EvaluatedCandidate) -> str:
    """The id of a candidate's row on a page."""
    return f"row-{row.candidate.identity}"


def stack(result: ProblemEvaluation, top: int = 3) -> Stack:
    """Contributions to the times of the winner, of the baseline and of the predicted top."""
    marked: list[Role] = ["winner", "baseline"]
    rows = [row for row in result.rows if row.predicted is not None]
    rows = sorted(
        (r for r in rows if (r.rank or top + 1) <= top or role(r, result) in marked),
        key=lambda row: [*marked, role(row, result)].index(role(row, result)),
    )
    bars = tuple(_bar(row, result) for row in rows)
    names = dict.fromkeys(segment.name for bar in bars for segment in bar.segments)
    return Stack(tuple(names), bars)


def _bar(row: EvaluatedCandidate, result: ProblemEvaluation) -> Bar:
    compared = row.compared
    return Bar(
        shown=shown(row, result),
        segments=contributions(row.prediction) if row.prediction else (),
        measured=row.measured if compared else None,
        interval=row.interval if compared else None,
    )


def contributions(prediction: Prediction) -> tuple[BarSegment, ...]:
    """The parts that add up to the prediction, in their order, with equal names merged."""
    joined: dict[str, BarSegment] = {}
    for part in prediction.parts:
        if part.kind in COMBINED:
            name = loop(part) if part.kind == "sweep" else part.kind
            old = joined.get(name, BarSegment(name, 0.0, False))
            unsure = old.extrapolated or part.extrapolated or _unsure(prediction, part.sweep)
            joined[name] = BarSegment(name, old.seconds + part.seconds, unsure)
    return tuple(joined.values())


def _unsure(prediction: Prediction, sweep: str) -> bool:
    return any(part.extrapolated for part in prediction.parts if part.sweep == sweep)


def loop(part: Part) -> str:
    """The readable name of the loop that a part belongs to: what it computes, in capitals.

    Different forms of a kernel, ``rhs`` and ``rhs_first``, are one loop.
    """
    kernels = dict.fromkeys(name.partition("_")[0] for name in part.kernel.split("+"))
    return "+".join(kernels).upper() if part.kernel else part.sweep


@dataclass(frozen=True, slots=True)
class LoopTimes:
    """The predicted time of one loop of a candidate, and of what it is made."""

    shown: ShownCandidate
    loop: str
    seconds: float
    core: float
    """Arithmetic on registers (T_OL), which overlaps with the rest."""
    rest: tuple[tuple[str, float], ...]
    """``T_nOL``, then the levels from near to far, then what else does not overlap with T_OL."""


def loop_times(result: ProblemEvaluation, most: int = 6) -> tuple[LoopTimes, ...]:
    """The longest loops of the winner, then of the baseline, with what each is made of."""
    rows = dict.fromkeys(id(row) for row in (result.best, result.baseline) if row)
    by_id = {id(row): row for row in result.rows}
    return tuple(
        times
        for row in (by_id[key] for key in rows if key in by_id)
        if row.prediction
        for times in loops_of(row.prediction, shown(row, result))[:most]
    )


def loops_of(prediction: Prediction, candidate: ShownCandidate) -> list[LoopTimes]:
    """The loops of a prediction, the longest first."""
    sums: dict[str, dict[str, float]] = {}
    for part in prediction.parts:
        if part.kind not in COMBINED[1:]:
            kinds = sums.setdefault(loop(part), {})
            kinds[part.kind] = kinds.get(part.kind, 0.0) + part.seconds
    loops = [
        LoopTimes(
            shown=candidate,
            loop=name,
            seconds=kinds.get("sweep", 0.0),
            core=kinds.get("T_OL", 0.0),
            rest=tuple(
                (kind, kinds[kind])
                for kind in sorted(kinds, key=_from_core)
                if kind not in ("T_OL", "sweep")
            ),
        )
        for name, kinds in sums.items()
    ]
    return sorted(loops, key=lambda times: -times.seconds)


def _from_core(kind: str) -> tuple[int, str]:
    """An order of parts: T_nOL, the caches, memory, then the rest."""
    group = 0 if kind == "T_nOL" else 1 if kind[:1] == "L" else 2 if kind == "MEM" else 3
    return group, kind


def scatter(result: ProblemEvaluation) -> Scatter:
    """Predicted against measured of the compared candidates."""
    return Scatter(
        tuple(
            ScatterPoint(
                shown=shown(row, result),
                predicted=row.predicted,
                predicted_interval=row.prediction.interval if row.prediction else None,
                measured=row.measured,
                interval=row.interval,
            )
            for row in result.rows
            if row.compared and row.predicted is not None and row.measured is not None
        )
    )


def samples(result: ProblemEvaluation, most: int = 40) -> Samples:
    """The samples of the fastest ``most`` compared candidates, and of the baseline."""
    strips: list[Strip] = []
    for row in result.evaluated:
        included = len(strips) < most or role(row, result) == "baseline"
        if included and row.compared and row.measurement and row.measured is not None:
            timed = [sample for sample in row.measurement.samples if not sample.warm_up]
            strips.append(
                Strip(
                    shown=shown(row, result),
                    undisturbed=tuple(s.seconds for s in timed if s.undisturbed),
                    disturbed=tuple(s.seconds for s in timed if not s.undisturbed),
                    location=row.measured,
                )
            )
    return Samples(tuple(strips), result.problem.goal)


def bandwidths(machine: Machine) -> Bandwidths:
    """The calibrated bandwidths; no curves where nothing was measured."""
    curves = machine.calibration.loads if machine.calibration else ()
    return Bandwidths(
        curves=tuple(sorted(curves, key=lambda c: c.threads)),
        clock=machine.frequency,
        caches=tuple((cache.name, float(cache.size)) for cache in machine.caches),
    )


def facts(machine: Machine) -> tuple[Fact, ...]:
    """The figures of the machine that predictions use, each with its source.

    A measured figure takes precedence over a documented one.
    """
    calibration = machine.calibration
    clock = _MEASURED if calibration else _source(machine, "clock")
    rows = [
        Fact("cores", float(machine.cores), "count", _source(machine, "cores")),
        Fact("clock", machine.frequency, "frequency", clock),
    ]
    for cache in machine.caches:
        key = f"caches.{cache.name}"
        source = _source(machine, f"{key}.size", key, "caches")
        rows.append(Fact(f"{cache.name} size", float(cache.size), "size", source))
        if cache.inbound is not None:
            source = _source(machine, f"{key}.inbound", key, "caches")
            rows.append(Fact(f"{cache.name} inbound", cache.inbound, "throughput", source))
    rows += _memory(machine)
    rows += _barriers(machine, calibration)
    levels: Sequence[str] = [*(cache.name for cache in machine.caches[1:]), "MEM"]
    for level in levels:
        key_of_level = "memory.exposed" if level == "MEM" else f"caches.{level}.exposed"
        documented = _source(machine, key_of_level, "caches.exposed")
        source = _MEASURED if calibration and level in calibration.exposed else documented
        rows.append(Fact(f"{level} exposed share", machine.exposed(level), "share", source))
    return tuple(rows)


_MEASURED = "measured"


def _source(machine: Machine, *keys: str) -> str:
    """The source of a figure, by the most specific key that the machine file has."""
    sources = (machine.sources[key] for key in keys if key in machine.sources)
    return next(sources, "machine file")


def _memory(machine: Machine) -> list[Fact]:
    memory = machine.memory
    bandwidths = [
        ("one core", "single", memory.single),
        ("all cores", "saturated", memory.saturated),
    ]
    return [
        Fact(
            f"memory bandwidth, {name}",
            value,
            "bandwidth",
            _source(machine, f"memory.{key}", "memory"),
        )
        for name, key, value in bandwidths
        if value is not None
    ]


def _barriers(machine: Machine, calibration: Calibration | None) -> list[Fact]:
    if calibration:
        return [
            Fact(f"barrier, {threads} threads", value, "time", _MEASURED)
            for threads, value in sorted(calibration.barriers.items())
        ]
    if machine.barrier is None:
        return []
    return [Fact("barrier, all cores", machine.barrier, "time", _source(machine, "barrier"))]
