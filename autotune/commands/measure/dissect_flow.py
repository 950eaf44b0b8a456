"""The terms of the model of one candidate: predicted, and measured by probes of its own sweeps."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from autotune.codegen.c import emit, harness
from autotune.codegen.probes import probe_programs, probe_text
from autotune.codegen.probes.probe_parts import LoopShape, ProbeImpossible
from autotune.codegen.probes.probe_programs import ProbedSweep
from autotune.codegen.probes.probe_text import Part
from autotune.codegen.tree import loop_tree
from autotune.commands.measure.kernel_times import kernel_times
from autotune.commands.tune.flow import identity_of
from autotune.domain.dissection import Dissection, Kind, SweepTerms, Term
from autotune.domain.machine import Machine
from autotune.domain.problem import AnyProblem
from autotune.domain.ranking import Ranked
from autotune.domain.results import Part as PredictedPart
from autotune.domain.results import Prediction
from autotune.domain.setup import Setup
from autotune.domain.variant import Build, Candidate
from autotune.measuring.candidates.host_measurer import HostMeasurer, KernelSeconds
from autotune.measuring.candidates.probe_runs import Dissector, PartProbe, ProbeOutcome
from autotune.models.engines.reuse.reuse_engine import ReuseEngine
from autotune.models.incore import osaca_analyser
from autotune.models.incore.base import InCoreResult
from autotune.models.incore.osaca_analyser import OsacaAnalyser
from autotune.models.traffic import TrafficAnalyser
from autotune.progress import Progress
from autotune.workloads.generated.probe_places import LevelSetting, computes, places

_SMALL = 0.05
"""Sweeps over less of the components than this (boundaries) are left out."""
_OWN_MEMORY = re.compile(r"^[^#\n]*\(%(?:rip|rsp|rbp)\)\s*,", re.MULTILINE)
"""Operands that are read, not written, from constants or the stack (x86, AT&T syntax)."""
_WANTED: tuple[tuple[Kind, Part], ...] = (
    ("T_OL", "arithmetic"),
    ("T_nOL", "moves"),
    ("loads", "loads"),
    ("core", "loop"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """One sweep that is dissected, with its predictions and probes before anything runs."""

    taken: ProbedSweep
    result: InCoreResult
    places: Sequence[LevelSetting]
    programs: Sequence[loop_tree.StepProgram]
    """One per place."""
    predictions: Sequence[Prediction]
    """One per place."""
    lines: Sequence[float]
    """One per place: lines per iteration from beyond the innermost cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """One term of the model that is to be measured, and its probe."""

    subject: _Subject
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
        self._subjects = self._prepare(program)
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

    def _prepare(self, program: loop_tree.StepProgram) -> list[_Subject]:
        sweeps = [sweep for sweep in probe_programs.probed_sweeps(program) if self._large(sweep)]

        def assemble(text: str, build: Build) -> str:
            place = self._setup.place(f"builds.{self._setup.builds.index(build)}")
            return osaca_analyser.assemble(text, build, place)

        with OsacaAnalyser(self._machine, assemble=assemble) as analyser:
            codes = [emit.sweep_code(sweep.sweep) for sweep in sweeps]
            results = analyser.analyse(codes, self._candidate.build)
            return [
                self._subject(program, sweep, result, analyser)
                for sweep, result in zip(sweeps, results, strict=True)
            ]

    def _large(self, probed: ProbedSweep) -> bool:
        """Whether a sweep covers more than a boundary; sweeps over a grid always do."""
        return computes(probed, self._candidate.problem, self._candidate.threads, _SMALL)

    def _subject(
        self,
        program: loop_tree.StepProgram,
        probed: ProbedSweep,
        result: InCoreResult,
        analyser: OsacaAnalyser,
    ) -> _Subject:
        problem, threads = self._candidate.problem, self._candidate.threads
        rows = len(probed.sweep.rows)
        pad = program.pad_lines if program.grid else _pad(rows, self._machine)
        single = probe_programs.single_sweep_program(program, probed, pad)
        where = places(probed, program.granule, problem, threads, self._machine)
        programs = [
            single if p.times == 1 else probe_programs.repeated(single, p.tile, p.times)
            for p in where
        ]
        lines = {p.level: m for p, m in zip(where, programs, strict=True)}
        queries = [self._at(p) for p in where]
        engine = ReuseEngine(
            self._machine,
            lambda c: lines[str(c.variant.parameters["probe"])],
            analyser,
            emit.sweep_code,
        )
        return _Subject(
            taken=replace(probed, sweep=next(loop_tree.every_sweep(single.body))),
            result=result,
            places=where,
            programs=programs,
            predictions=engine.predict(queries),
            lines=[_lines(self._machine, m, a) for m, a in zip(programs, queries, strict=True)],
        )

    def _at(self, place: LevelSetting) -> Candidate:
        variant = self._candidate.variant
        parameters = {**variant.parameters, "probe": place.level}
        return replace(
            self._candidate,
            variant=replace(variant, parameters=parameters),
            problem=place.problem,
        )

    def _probes(self, subject: _Subject) -> list[_Wanted]:
        inner = [(0, kind, part) for kind, part in _WANTED]
        outer: list[tuple[int, Kind, Part]] = []
        for place in range(1, len(subject.places)):
            outer += [(place, "level", "loop"), (place, "level loads", "loads")]
        return [
            _Wanted(subject=subject, place=p, kind=kind, probe=self._probe(subject, p, part))
            for p, kind, part in (*inner, *outer)
        ]

    def _probe(self, subject: _Subject, place: int, part: Part) -> PartProbe:
        where, prediction = subject.places[place], subject.predictions[place]
        units: Mapping[str, str] | None = None
        reason = ""
        try:
            alike = LoopShape(vector=subject.result.vector, loads=_loads(subject.result))
            code = probe_text.code(subject.taken.sweep, part, alike)
            problem = where.problem
            units = harness.units(subject.programs[place], problem, filled=True)
            units = {**units, f"{code.function}.c": code.text}
        except ProbeImpossible as refusal:
            reason = str(refusal)
        return PartProbe(
            sweep=subject.taken.sweep.name,
            part=part,
            level=where.level,
            candidate=self._at(where),
            units=units,
            iterations=where.iterations,
            expected=prediction.seconds,
            reason=reason,
        )

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


def _loads(result: InCoreResult) -> float:
    """Load instructions per component: loads of rows, and reloads of spilled registers."""
    if not result.loads:
        return 0.0
    others = len(_OWN_MEMORY.findall(result.assembly))
    return result.loads + others / result.iterations


def _cut_rows(subject: _Subject, problem: AnyProblem) -> list[str]:
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


def _pad(rows: int, machine: Machine) -> int:
    """Lines of padding that spread the rows over the sets of the innermost cache; an odd number."""
    return max(1, machine.caches[0].sets // max(rows, 2)) | 1


def _lines(machine: Machine, program: loop_tree.StepProgram, candidate: Candidate) -> float:
    """Lines per iteration that the loop loads or allocates from beyond the innermost cache."""
    traffic = TrafficAnalyser(machine).analyse(program, candidate.problem, candidate.threads)
    inner = traffic.levels[0][1]
    records = traffic.records()
    weights = sum(r.iterations * r.executions for r in records if r.thread == 0)
    moved = sum(
        stream.lines * r.iterations * r.executions
        for r in records
        if r.thread == 0
        for stream in r.streams
        if stream.distance > inner
    )
    return moved / weights if weights else 0.0


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
