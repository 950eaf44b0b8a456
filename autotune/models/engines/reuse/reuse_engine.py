"""Engine ``reuse``: the in-core times of compiled loops, and one reuse distance per stream."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from autotune.codegen.c.emit import SweepCode
from autotune.codegen.tree.loop_tree import AnySweep, StepProgram
from autotune.domain.calibration import Z80
from autotune.domain.machine import Machine
from autotune.domain.results import Prediction
from autotune.domain.variant import Candidate
from autotune.models.engines import explain
from autotune.models.engines.reuse import uncertainty
from autotune.models.engines.reuse.analysed_programs import (
    AnalysedCandidates,
    CasePosition,
    TimingCase,
)
from autotune.models.engines.reuse.case_evaluation import Evaluator
from autotune.models.engines.reuse.evaluation_pieces import (
    CaseEstimates,
    LoadedNode,
    ThreadPlacement,
    TimeDoubts,
)
from autotune.models.incore.base import InCoreAnalyser
from autotune.models.traffic import Floats, Whole
from autotune.units import Seconds

_NOTEWORTHY = 0.03
"""Relative standard deviation above which a note names the weakness of the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionArrays:
    """Predictions of n candidates as arrays.

    Values are nan where the engine has no prediction; ``reasons`` holds the positions and the
    reasons.
    """

    seconds: Floats
    """(n,): seconds of a time step."""
    low: Floats
    high: Floats
    """80 % interval."""
    doubts: TimeDoubts
    classes: tuple[str, ...]
    """Names of the k classes; see ``uncertainty``."""
    reasons: Mapping[int, str]


class _Placed(NamedTuple):
    """The positions of the cases of some candidates, and reasons for candidates without a case."""

    position: Whole
    groups: list[tuple[ThreadPlacement, Whole]]
    """Candidates of each thread placement, by their positions in the list."""
    reasons: dict[int, str]
    """Position of a candidate without a case to the reason why."""


class _PlacementEstimates(NamedTuple):
    """The estimates of the cases of one thread placement."""

    node: LoadedNode
    rows: Whole
    """Position of each case in the estimates; -1: not requested."""
    estimates: CaseEstimates
    low: Floats
    high: Floats


class ReuseEngine:
    """Predicts candidates by the ECM model with one reuse distance per stream.

    ``programs`` gives the program of a candidate, ``sweep_code`` the C text of a sweep,
    ``analyser`` the in-core time of a sweep. The module ``uncertainty`` describes the interval.
    """

    name = "reuse"

    def __init__(
        self,
        machine: Machine,
        programs: Callable[[Candidate], StepProgram],
        analyser: InCoreAnalyser,
        sweep_code: Callable[[AnySweep], SweepCode],
    ) -> None:
        self._begin(machine, AnalysedCandidates(machine, programs, analyser, sweep_code))

    def _begin(self, machine: Machine, analysed: AnalysedCandidates) -> None:
        self.machine = machine
        self._analysed = analysed
        self._evaluator = Evaluator(machine)
        self._done: dict[CasePosition, Prediction] = {}
        self._last: tuple[list[int], _Placed] = ([], _Placed(np.zeros(0, np.int64), [], {}))

    def on(self, machine: Machine) -> "ReuseEngine":
        """The engine with other figures of the machine; analysed programs are shared.

        Raises ValueError for a machine with other caches or cache lines, since the traffic differs
        there.
        """
        current = self.machine
        if [(c.size, c.ways, c.line, c.cores) for c in machine.caches] != [
            (c.size, c.ways, c.line, c.cores) for c in current.caches
        ]:
            raise ValueError(f"{machine.name} has other caches than {current.name}")
        engine = ReuseEngine.__new__(ReuseEngine)
        engine._begin(machine, self._analysed)
        return engine

    # --- arrays ---------------------------------------------------------------------------

    def predict_arrays(self, candidates: Sequence[Candidate]) -> PredictionArrays:
        """Seconds and interval of every candidate, in order.

        Candidates are remembered by the identity of the object: predicting the same objects again
        takes only arithmetic.
        """
        count = len(candidates)
        placed = self._placed(candidates)
        reasons = dict(placed.reasons)
        position = placed.position
        seconds, low, high = (np.full(count, np.nan) for _ in range(3))
        doubts = TimeDoubts.unknown(count, 0)
        classes: tuple[str, ...] = ()
        for spread, mine in placed.groups:
            evaluated = self._estimate(spread, position[mine])
            rows = evaluated.rows[position[mine]]
            if not classes:
                classes = evaluated.node.doubts.classes
                doubts = TimeDoubts.unknown(count, len(classes))
            seconds[mine] = evaluated.estimates.seconds[rows]
            doubts.put(mine, evaluated.estimates.doubts.at(rows))
            low[mine], high[mine] = evaluated.low[rows], evaluated.high[rows]
            for k in mine[~_sensible(seconds[mine])].tolist():
                reasons[k] = self._missing(CasePosition(spread, int(position[k])))
        unknown = ~_sensible(seconds)
        for values in (seconds, low, high):
            values[unknown] = np.nan
        doubts.put(unknown, np.nan)
        return PredictionArrays(
            seconds=seconds,
            low=low,
            high=high,
            doubts=doubts,
            classes=classes,
            reasons=reasons,
        )

    def _placed(self, candidates: Sequence[Candidate]) -> _Placed:
        """The positions of the cases of candidates; the result for the last request is
        remembered.
        """
        ids = list(map(id, candidates))
        if ids != self._last[0]:
            places = self._analysed.places(candidates)
            spreads: dict[ThreadPlacement | None, list[int]] = {}
            for k, place in enumerate(places):
                spreads.setdefault(None if isinstance(place, str) else place.spread, []).append(k)
            self._last = (
                ids,
                _Placed(
                    position=np.array([0 if isinstance(p, str) else p.position for p in places]),
                    groups=[(s, np.array(k)) for s, k in spreads.items() if s is not None],
                    reasons={k: place for k, place in enumerate(places) if isinstance(place, str)},
                ),
            )
        return self._last[1]

    def _estimate(self, spread: ThreadPlacement, positions: Whole) -> _PlacementEstimates:
        """The estimates of some cases of one thread placement."""
        team = self._analysed.teams[spread]
        node = self._evaluator.node(spread, team.parts)
        selected = np.zeros(len(team.rows), dtype=np.bool_)
        selected[positions] = True
        cases = np.flatnonzero(selected)
        rows = np.full(len(team.rows), -1)
        rows[cases] = np.arange(len(cases))
        estimates = self._evaluator.estimate(
            node,
            team.array().at(cases),
            self._analysed.loops,
            team.conflicts(len(node.costs.names) - 1),
        )
        low, high = _interval(estimates, node)
        return _PlacementEstimates(node, rows, estimates, low, high)

    # --- with words -----------------------------------------------------------------------

    def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
        """One prediction per candidate, in order; where the engine cannot predict one, ``seconds``
        is None and a reason is stated.
        """
        places = self._analysed.places(candidates)
        new: dict[ThreadPlacement, dict[int, None]] = {}
        for place in places:
            if not isinstance(place, str) and place not in self._done:
                new.setdefault(place.spread, {})[place.position] = None
        for spread, positions in new.items():
            self._predict(spread, np.array(list(positions), dtype=np.int64))
        return [_unknown(p) if isinstance(p, str) else self._done[p] for p in places]

    def _predict(self, spread: ThreadPlacement, positions: Whole) -> None:
        """Make the predictions of those of the cases that have none yet."""
        evaluated = self._estimate(spread, positions)
        team = self._analysed.teams[spread]
        predicted = np.flatnonzero(evaluated.rows >= 0)
        for rows in np.array_split(predicted, max(1, len(predicted) // 256)):
            cases = team.array().at(rows)
            with np.errstate(all="ignore"):
                piece = self._evaluator.piece(
                    evaluated.node,
                    cases,
                    self._analysed.loops,
                    team.conflicts(len(evaluated.node.costs.names) - 1),
                )
                step = self._evaluator.steps(piece)
                sweeps = np.array([len(team.cases[row].results) for row in rows.tolist()])
                contributions = explain.shares(
                    evaluated.node, piece, step, sweeps, float(self.machine.frequency)
                )
            for k, row in enumerate(rows.tolist()):
                inside = slice(contributions.first[k], contributions.first[k + 1])
                place = CasePosition(spread, row)
                self._done[place] = self._prediction(
                    place,
                    evaluated,
                    contributions.seconds[inside],
                    contributions.streams[inside],
                    float(step.barriers[k]),
                )

    def _prediction(
        self,
        place: CasePosition,
        evaluated: _PlacementEstimates,
        parts_seconds: Floats,
        streams: Whole,
        barriers: float,
    ) -> Prediction:
        """The prediction of one case."""
        case = self._analysed.case(place)
        row = int(evaluated.rows[place.position])
        seconds = float(evaluated.estimates.seconds[row])
        if not (np.isfinite(seconds) and seconds > 0):
            return _unknown(self._missing(place))
        parts = explain.parts(
            case, explain.Contributions(parts_seconds, streams, barriers), evaluated.node.costs
        )
        unsure = evaluated.estimates.doubts.of(row, evaluated.node.doubts.classes)
        return Prediction(
            seconds=Seconds(seconds),
            interval=(Seconds(float(evaluated.low[row])), Seconds(float(evaluated.high[row]))),
            parts=parts,
            engine=self.name,
            reason=explain.reason(case, streams, parts, seconds),
            notes=self._notes(case, evaluated.node, unsure.shared),
            uncertainty=unsure,
        )

    def _missing(self, place: CasePosition) -> str:
        """A sentence that names the figure of the machine that is missing or implausible."""
        team = self._analysed.teams[place.spread]
        node = self._evaluator.node(place.spread, team.parts)
        flow = team.rows[place.position][0]
        works = node.flows.work[node.flows.passes[flow] : node.flows.passes[flow + 1]]
        if not np.isfinite(node.bare.rules.exposed).all():
            return "an exposed share of the machine is not a number"
        for level in range(len(node.costs.names) - 1):
            if np.isnan(node.mean[level, works]).any():
                return node.costs.missing(level + 1)
        case = self._analysed.case(place)
        for sweep, result in zip(case.traffic.schedule.sweeps, case.results, strict=True):
            if not (np.isfinite(result.T_OL) and np.isfinite(result.T_nOL)):
                return f"the in-core time of sweep {sweep.name} is not a number"
        barrier = self._evaluator.barrier(case.team)
        if barrier is not None and not np.isfinite(barrier):
            return "the time of a barrier is not a number"
        return "the predicted time is not a number above zero"

    # --- what must be said beside the number ----------------------------------------------

    def _notes(
        self, case: TimingCase, node: LoadedNode, shared: Mapping[str, float]
    ) -> tuple[str, ...]:
        notes = [*node.costs.notes, *node.doubts.notes]
        notes.append("in-core by " + ", ".join(sorted({result.route for result in case.results})))
        notes += sorted({note for result in case.results for note in result.notes})
        if self._evaluator.barrier(case.team) is None:
            notes.append(explain.UNKNOWN_BARRIER)
        notes += _conflict_notes(case)
        if any(streams.history.remote.any() for streams in case.traffic.threads):
            notes.append("rows written by other threads are taken from the shared cache")
        notes += [
            text
            for name, text in uncertainty.WEAK.items()
            if abs(shared.get(name, 0.0)) > _NOTEWORTHY
        ]
        return tuple(dict.fromkeys(notes))


def _sensible(seconds: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    with np.errstate(invalid="ignore"):
        return np.isfinite(seconds) & (seconds > 0)


def _interval(estimates: CaseEstimates, node: LoadedNode) -> tuple[Floats, Floats]:
    """The bounds of 80 % intervals; none is below the time at the fastest plausible memory
    bandwidth.
    """
    reach = np.exp(Z80 * estimates.doubts.sigma)
    least = estimates.floor / np.exp(Z80 * node.doubts.levels[-1])
    low = np.minimum(np.maximum(estimates.seconds / reach, least), estimates.seconds)
    return low, estimates.seconds * reach


def _conflict_notes(case: TimingCase) -> list[str]:
    plan = case.traffic.schedule
    crowded = {}
    for number, conflicts in case.crowded:
        kernel = plan.sweeps[plan.steps[-1].calls[number].sweep].kernel.upper()
        for conflict in conflicts:
            crowded[kernel, conflict.level] = conflict
    return [
        f"{kernel}: {c.streams} rows in one set of {level}, which has {c.ways} ways"
        + ("" if c.certain else ", if physical pages are contiguous")
        for (kernel, level), c in crowded.items()
    ]


def _unknown(reason: str) -> Prediction:
    return Prediction(seconds=None, interval=None, parts=(), engine=ReuseEngine.name, reason=reason)
