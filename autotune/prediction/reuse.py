"""Engine ``reuse``: in-core times of the compiled loops, and every stream at its reuse distance."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from autotune.analysis.base import InCoreAnalyser, InCoreResult
from autotune.analysis.traffic import Schedule, Traffic, TrafficAnalyser
from autotune.codegen.emit import SweepCode
from autotune.codegen.ir import Program, Sweep
from autotune.codegen.transform import Illegal
from autotune.errors import AutotuneError
from autotune.machine import Machine
from autotune.prediction import explain
from autotune.prediction.evaluation import CENTRAL, FAST, SLOW, Case, Evaluation, Evaluator
from autotune.prediction.lines import LineCosts
from autotune.results import Prediction
from autotune.units import Seconds
from autotune.variant import Build, Candidate

_SHORT = 100e-6
"""Seconds; parallel steps below are known to be predicted too fast, by up to two fifths."""
_SHORT_FACTOR = 1.4


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A candidate with the traffic of its program."""

    candidate: Candidate
    traffic: Traffic
    pad_lines: int


class ReuseEngine:
    """Predicts candidates by the ECM model with one reuse distance per stream.

    ``programs`` gives the program of a candidate, ``sweep_code`` the C text of a sweep,
    ``analyser`` its in-core time. Sweeps of equal text are analysed once per build; equal programs
    share their traffic. The interval is described in ``evaluation``.
    """

    name = "reuse"

    def __init__(
        self,
        machine: Machine,
        programs: Callable[[Candidate], Program],
        analyser: InCoreAnalyser,
        sweep_code: Callable[[Sweep], SweepCode],
    ) -> None:
        self.machine = machine
        self._programs = programs
        self._analyser = analyser
        self._sweep_code = sweep_code
        self._traffic = TrafficAnalyser(machine)
        self._evaluator = Evaluator(machine)
        self._codes: dict[Sweep, SweepCode] = {}
        self._plans: dict[int, tuple[SweepCode, ...]] = {}
        self._in_core: dict[tuple[Build, str], InCoreResult | str] = {}
        self._done: dict[tuple[object, ...], Prediction] = {}

    def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
        """One prediction per candidate, in order; ``seconds`` None and a reason where it cannot."""
        wanted = [self._want(candidate) for candidate in candidates]
        self._analyse([item for item in wanted if isinstance(item, _Wanted)])
        return [
            self._prediction(item) if isinstance(item, _Wanted) else self._unknown(item)
            for item in wanted
        ]

    def _want(self, candidate: Candidate) -> _Wanted | str:
        try:
            program = self._programs(candidate)
            everywhere = candidate.ranks * candidate.threads
            traffic = self._traffic.analyse(program, candidate.problem, everywhere, candidate.nodes)
        except (Illegal, ValueError) as error:
            return f"no program to look at: {error}"
        return _Wanted(candidate, traffic, program.pad_lines)

    # --- in-core times --------------------------------------------------------------------

    def _code(self, plan: Schedule) -> tuple[SweepCode, ...]:
        """The C text of every sweep of a schedule."""
        if id(plan) not in self._plans:
            for sweep in plan.sweeps:
                if sweep not in self._codes:
                    self._codes[sweep] = self._sweep_code(sweep)
            self._plans[id(plan)] = tuple(self._codes[sweep] for sweep in plan.sweeps)
        return self._plans[id(plan)]

    def _analyse(self, wanted: Sequence[_Wanted]) -> None:
        """In-core times of all sweeps that are not known yet, in one batch per build."""
        new: dict[Build, dict[str, SweepCode]] = {}
        plans = {
            (item.candidate.build, id(item.traffic.schedule)): item.traffic.schedule
            for item in wanted
        }
        for (build, _), plan in plans.items():
            for code in self._code(plan):
                if (build, code.text) not in self._in_core:
                    new.setdefault(build, {})[code.text] = code
        for asked, codes in new.items():
            try:
                results = self._analyser.analyse(list(codes.values()), asked)
            except AutotuneError:
                for text, code in codes.items():
                    self._in_core[asked, text] = self._analyse_one(code, asked)
                continue
            for text, result in zip(codes, results, strict=True):
                self._in_core[asked, text] = result

    def _analyse_one(self, code: SweepCode, build: Build) -> InCoreResult | str:
        try:
            return self._analyser.analyse([code], build)[0]
        except AutotuneError as error:
            return f"no in-core time of sweep {code.name}: {error}"

    # --- one candidate --------------------------------------------------------------------

    def _prediction(self, wanted: _Wanted) -> Prediction:
        found = [
            self._in_core[wanted.candidate.build, code.text]
            for code in self._code(wanted.traffic.schedule)
        ]
        failed = [result for result in found if isinstance(result, str)]
        if failed:
            return self._unknown(failed[0])
        case = Case(
            traffic=wanted.traffic,
            threads=wanted.candidate.threads_per_node,
            team=wanted.candidate.threads,
            pad_lines=wanted.pad_lines,
            results=tuple(result for result in found if isinstance(result, InCoreResult)),
        )
        # Padding matters through conflicts only, so most padded candidates share a prediction.
        crowded = tuple((call, *who) for call, who in self._evaluator.conflicts(case).items())
        key = (id(case.traffic), case.threads, case.team, wanted.candidate.build, crowded)
        if key not in self._done:
            self._done[key] = self._predict(case)
        return self._done[key]

    def _predict(self, case: Case) -> Prediction:
        central = self._evaluator.evaluate(case, CENTRAL)
        seconds = central.step.seconds
        costs = self._evaluator.costs(case.threads, CENTRAL)
        if not np.isfinite(seconds):
            return self._unknown(_missing(central, costs))
        clock = float(self.machine.frequency)
        parts = explain.parts(
            case.traffic, central.moved, central.in_core, central.step, costs, case.results, clock
        )
        notes = self._notes(case)
        if case.threads > 1 and seconds < _SHORT:
            notes.append("a parallel step this short is often predicted too fast")
        return Prediction(
            seconds=Seconds(seconds),
            interval=self._interval(case, seconds),
            parts=parts,
            engine=self.name,
            reason=explain.reason(case.traffic, central.moved, parts, case.results, seconds),
            notes=tuple(dict.fromkeys(notes)),
        )

    def _interval(self, case: Case, seconds: float) -> tuple[Seconds, Seconds]:
        fast = self._evaluator.evaluate(case, FAST).step.seconds
        slow = self._evaluator.evaluate(case, SLOW).step.seconds
        calibration = self.machine.calibration
        spread = min(calibration.clock_spread, 0.9) if calibration else 0.0
        short = _SHORT_FACTOR if case.threads > 1 and seconds < _SHORT else 1.0
        low, high = min(fast, seconds) * (1 - spread), max(slow, seconds) * (1 + spread) * short
        return Seconds(low), Seconds(high)

    def _unknown(self, reason: str) -> Prediction:
        return Prediction(seconds=None, interval=None, parts=(), engine=self.name, reason=reason)

    # --- what must be said beside the number ----------------------------------------------

    def _notes(self, case: Case) -> list[str]:
        notes = list(self._evaluator.costs(case.threads, CENTRAL).notes)
        notes.append("in-core by " + ", ".join(sorted({result.route for result in case.results})))
        notes += sorted({note for result in case.results for note in result.notes})
        if self._evaluator.barrier(case.team) is None:
            notes.append("barriers are not counted: the machine has no figure")
        notes += self._conflict_notes(case)
        if any(streams.remote.any() for streams in case.traffic.threads):
            notes.append("rows written by other threads are taken from the shared cache")
        return notes

    def _conflict_notes(self, case: Case) -> list[str]:
        plan = case.traffic.schedule
        found = {}
        for number, conflicts in self._evaluator.conflicts(case).items():
            kernel = plan.sweeps[plan.steps[-1].calls[number].sweep].kernel.upper()
            for conflict in conflicts:
                found[kernel, conflict.level] = conflict
        return [
            f"{kernel}: {c.streams} rows in one set of {level}, which has {c.ways} ways"
            + ("" if c.certain else ", if physical pages are contiguous")
            for (kernel, level), c in found.items()
        ]


def _missing(evaluation: Evaluation, costs: LineCosts) -> str:
    """Which figure the machine lacks."""
    for transfer in evaluation.moved:
        for level in range(transfer.data.shape[1]):
            if np.isnan(transfer.data[:, level]).any():
                return costs.missing(level)
    return "the in-core time is not a number"
