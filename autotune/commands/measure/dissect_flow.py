"""The terms of the model of one candidate: predicted, and measured by probes of its own sweeps."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from autotune.codegen.probes.probe_text import Part
from autotune.codegen.tree import loop_tree
from autotune.commands.measure.kernel_times import kernel_times
from autotune.commands.measure.placed_sweeps import PlacedSweep, placed_sweeps
from autotune.commands.tune.flow import identity_of
from autotune.domain.dissection import Dissection, Kind, SweepTerms, Term
from autotune.domain.machine import Machine
from autotune.domain.problem import AnyProblem
from autotune.domain.ranking import Ranked
from autotune.domain.results import Part as PredictedPart
from autotune.domain.results import Prediction
from autotune.domain.setup import Setup
from autotune.measuring.candidates.host_measurer import HostMeasurer, KernelSeconds
from autotune.measuring.candidates.probe_runs import Dissector, PartProbe, ProbeOutcome
from autotune.progress import Progress

_WANTED: tuple[tuple[Kind, Part], ...] = (
    ("T_OL", "arithmetic"),
    ("T_nOL", "moves"),
    ("loads", "loads"),
    ("core", "loop"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """One term of the model that is to be measured, and its probe."""

    subject: PlacedSweep
    place: int
    kind: Kind
    probe: PartProbe


class DissectionSession:
    """The dissection of one candidate.

    ``result`` gives the terms measured so far, also after Ctrl-C.
    """

    def __init__(
        self,
        setup: Setup,
        machine: Machine,
        ranked: Ranked,
        measurer: HostMeasurer,
        program: loop_tree.StepProgram,
        progress: Progress,
    ) -> None:
        candidate = ranked.candidate
        self._setup, self._machine, self._ranked = setup, machine, ranked
        alone = replace(candidate.layout, ranks=1, nodes=1, communication="none")
        self._candidate = replace(candidate, layout=alone)
        self._notes = [] if candidate.ranks == 1 else [f"one of its {candidate.ranks} ranks"]
        self._progress, self._program = progress, program
        self._subjects = placed_sweeps(setup, machine, self._candidate, program)
        self._wanted = [w for subject in self._subjects for w in self._probes(subject)]
        self._dissector = Dissector(measurer, [w.probe for w in self._wanted], progress)
        self._taken = datetime.now(UTC).isoformat(timespec="seconds")

    def run(self) -> None:
        """Build the probes and run them in rounds."""
        self._dissector.build()
        self._dissector.run(self._setup.measuring.rounds, self._setup.selection.seed)

    @property
    def rounds(self) -> int:
        """The number of finished rounds of probes."""
        return self._dissector.rounds

    @property
    def measured(self) -> bool:
        """Whether anything was measured, also in an unfinished round."""
        return self._dissector.measured

    def result(self, phases: KernelSeconds | None, step: float | None) -> Dissection:
        """The measured terms, and the time of each kernel of a real step of ``step`` seconds."""
        clock = float(self._machine.frequency)
        by_sweep: dict[str, list[Term]] = defaultdict(list)
        for term, outcome in zip(self._wanted, self._dissector.outcomes, strict=True):
            by_sweep[term.subject.taken.sweep.name].append(_term(term, outcome, clock))
        shares = self._shares()
        swept = [
            SweepTerms(
                sweep=s.taken.sweep.name,
                kernel=s.taken.sweep.kernel,
                calls=s.taken.calls,
                share=shares.get(s.taken.sweep.name),
                bottleneck=s.result.bottleneck,
                route=s.result.route,
                vector=s.result.vector,
                terms=tuple(by_sweep[s.taken.sweep.name]),
            )
            for s in self._subjects
        ]
        return Dissection(
            candidate=self._ranked.candidate.identity,
            id=self._ranked.candidate.id,
            machine=identity_of(self._machine),
            threads=self._candidate.threads,
            clock=clock,
            taken=self._taken,
            rounds=self.rounds,
            wanted=self._setup.measuring.rounds,
            sweeps=tuple(swept),
            kernels=kernel_times(
                self._program,
                self._ranked.prediction.parts,
                phases.seconds if phases else {},
                step,
            ),
            notes=(*self._notes, *self._remarks()),
        )

    # --- what is to be measured --------------------------------------------------------------

    def _probes(self, subject: PlacedSweep) -> list[_Wanted]:
        inner = [(0, kind, part) for kind, part in _WANTED]
        outer: list[tuple[int, Kind, Part]] = []
        for place in range(1, len(subject.places)):
            outer += [(place, "level", "loop"), (place, "level loads", "loads")]
        return [
            _Wanted(subject=subject, place=p, kind=kind, probe=subject.probe(p, part))
            for p, kind, part in (*inner, *outer)
        ]

    # --- the real step beside ------------------------------------------------------------------

    def _shares(self) -> dict[str, float]:
        """The predicted share of each sweep in the time of a step."""
        whole = self._ranked.prediction.seconds
        parts = [part for part in self._ranked.prediction.parts if part.kind == "sweep"]
        return {part.sweep: part.seconds / whole for part in parts} if whole else {}

    def _remarks(self) -> list[str]:
        remarks = []
        if self._setup.machine is not None:
            remarks.append(f"predicted for {self._machine.name}, measured on this host")
        if self._machine.calibration is None:
            remarks.append("cycles by the documented clock: the machine is not calibrated")
        elif self._machine.calibration.contended:
            remarks.append("the calibration was disturbed")
        remarks += [text for s in self._subjects for text in _cut_rows(s, self._candidate.problem)]
        if self.rounds < self._setup.measuring.rounds:
            remarks.append(
                f"interrupted after {self.rounds} of {self._setup.measuring.rounds} rounds"
            )
        return remarks


def _cut_rows(subject: PlacedSweep, problem: AnyProblem) -> list[str]:
    """A note if the probes use a grid with shorter rows than the candidate's.

    Shorter rows mean that the loop is entered more often.
    """
    row = problem.map_size
    if not problem.shape or row is None:
        return []
    rows = [(place.level, place.problem.map_size) for place in subject.places]
    cut = [f"{length} in {level}" for level, length in rows if length and length < row]
    if not cut:
        return []
    name = subject.taken.sweep.name
    return [f"{name}: rows of {row} points are cut to {', '.join(cut)}"]


def _term(term: _Wanted, outcome: ProbeOutcome, clock: float) -> Term:
    subject, index = term.subject, term.place
    place, prediction = subject.places[index], subject.predictions[index]
    factor = clock / place.iterations
    outcome_cycles = outcome.cycles(clock)
    beyond = _seconds(prediction.parts, ("T_OL", "T_nOL", "sweep", "barrier"), besides=True)
    return Term(
        kind=term.kind,
        level=place.level,
        working_set=place.working_set,
        length=place.length,
        lines=subject.lines[index],
        predicted=_predicted(term.kind, prediction, factor),
        transfer=beyond * factor if term.kind == "level" else None,
        measured=outcome_cycles[0] if outcome_cycles else None,
        interval=outcome_cycles[1] if outcome_cycles else None,
        samples=sum(not s.warm_up for s in outcome.samples),
        reason="" if outcome_cycles else outcome.reason,
    )


def _predicted(kind: Kind, prediction: Prediction, factor: float) -> float | None:
    """What the model predicts for a term, times ``factor``.

    None for loads alone, which are not a term of the model.
    """
    if prediction.seconds is None or kind in ("loads", "level loads"):
        return None
    if kind in ("T_OL", "T_nOL"):
        return _seconds(prediction.parts, (kind,)) * factor
    return _seconds(prediction.parts, ("sweep",)) * factor


def _seconds(
    parts: Sequence[PredictedPart], kinds: Sequence[str], *, besides: bool = False
) -> float:
    return float(sum(part.seconds for part in parts if (part.kind in kinds) != besides))
