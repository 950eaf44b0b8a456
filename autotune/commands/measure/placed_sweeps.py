"""The sweeps of a candidate, each placed in every memory level, with predictions and probes."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from autotune.codegen.c import emit, harness
from autotune.codegen.probes import probe_programs, probe_text
from autotune.codegen.probes.probe_parts import LoopShape, ProbeImpossible
from autotune.codegen.probes.probe_programs import ProbedSweep
from autotune.codegen.probes.probe_text import Part
from autotune.codegen.tree import loop_tree
from autotune.domain.machine import Machine
from autotune.domain.results import Prediction
from autotune.domain.setup import Setup
from autotune.domain.variant import Build, Candidate
from autotune.measuring.candidates.probe_runs import PartProbe
from autotune.models.engines.reuse.reuse_engine import ReuseEngine
from autotune.models.incore import osaca_analyser
from autotune.models.incore.base import InCoreResult
from autotune.models.incore.osaca_analyser import OsacaAnalyser
from autotune.models.traffic import TrafficAnalyser
from autotune.workloads.generated.probe_places import LevelSetting, computes, places

_SMALL = 0.05
"""Sweeps over less of the components than this (boundaries) are left out."""
_OWN_MEMORY = re.compile(r"^[^#\n]*\(%(?:rip|rsp|rbp)\)\s*,", re.MULTILINE)
"""Operands that are read, not written, from constants or the stack (x86, AT&T syntax)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedSweep:
    """One sweep of a candidate, with its predictions and probes before anything runs."""

    candidate: Candidate
    taken: ProbedSweep
    result: InCoreResult
    places: Sequence[LevelSetting]
    programs: Sequence[loop_tree.StepProgram]
    """One per place."""
    predictions: Sequence[Prediction]
    """One per place."""
    lines: Sequence[float]
    """One per place: lines per iteration from beyond the innermost cache."""

    def probe(self, place: int, part: Part) -> PartProbe:
        """The probe of a part of the sweep at one of its places."""
        where, prediction = self.places[place], self.predictions[place]
        units: Mapping[str, str] | None = None
        reason = ""
        try:
            alike = LoopShape(vector=self.result.vector, loads=_loads(self.result))
            code = probe_text.code(self.taken.sweep, part, alike)
            units = harness.units(self.programs[place], where.problem, filled=True)
            units = {**units, f"{code.function}.c": code.text}
        except ProbeImpossible as refusal:
            reason = str(refusal)
        return PartProbe(
            sweep=self.taken.sweep.name,
            part=part,
            level=where.level,
            candidate=_at(self.candidate, where),
            units=units,
            iterations=where.iterations,
            expected=prediction.seconds,
            reason=reason,
        )


def placed_sweeps(
    setup: Setup,
    machine: Machine,
    candidate: Candidate,
    program: loop_tree.StepProgram,
    levels: int | None = None,
    wanted: Callable[[ProbedSweep], bool] | None = None,
) -> list[PlacedSweep]:
    """The sweeps of a candidate that cover more than a boundary, one for each C function.

    ``levels``: how many memory levels they are placed in, from the core outwards; None: in all.
    ``wanted``: whether a sweep is placed at all; None: all are.
    """
    problem, threads = candidate.problem, candidate.threads
    sweeps = [
        sweep
        for sweep in probe_programs.probed_sweeps(program)
        if computes(sweep, problem, threads, _SMALL) and (wanted is None or wanted(sweep))
    ]

    def assemble(text: str, build: Build) -> str:
        place = setup.place(f"builds.{setup.builds.index(build)}")
        return osaca_analyser.assemble(text, build, place)

    with OsacaAnalyser(machine, assemble=assemble) as analyser:
        codes = [emit.sweep_code(sweep.sweep) for sweep in sweeps]
        results = analyser.analyse(codes, candidate.build)
        return [
            _placed(machine, candidate, program, sweep, result, analyser, levels)
            for sweep, result in zip(sweeps, results, strict=True)
        ]


def _placed(
    machine: Machine,
    candidate: Candidate,
    program: loop_tree.StepProgram,
    probed: ProbedSweep,
    result: InCoreResult,
    analyser: OsacaAnalyser,
    levels: int | None,
) -> PlacedSweep:
    problem, threads = candidate.problem, candidate.threads
    rows = len(probed.sweep.rows)
    pad = program.pad_lines if program.grid else _pad(rows, machine)
    single = probe_programs.single_sweep_program(program, probed, pad)
    where = places(probed, program.granule, problem, threads, machine, levels)
    programs = [
        single if p.times == 1 else probe_programs.repeated(single, p.tile, p.times) for p in where
    ]
    of_level = {p.level: m for p, m in zip(where, programs, strict=True)}
    queries = [_at(candidate, p) for p in where]
    engine = ReuseEngine(
        machine,
        lambda c: of_level[str(c.variant.parameters["probe"])],
        analyser,
        emit.sweep_code,
    )
    return PlacedSweep(
        candidate=candidate,
        taken=replace(probed, sweep=next(loop_tree.every_sweep(single.body))),
        result=result,
        places=where,
        programs=programs,
        predictions=engine.predict(queries),
        lines=[_lines(machine, m, a) for m, a in zip(programs, queries, strict=True)],
    )


def _at(candidate: Candidate, place: LevelSetting) -> Candidate:
    variant = candidate.variant
    parameters = {**variant.parameters, "probe": place.level}
    return replace(
        candidate, variant=replace(variant, parameters=parameters), problem=place.problem
    )


def _loads(result: InCoreResult) -> float:
    """Load instructions per component: loads of rows, and reloads of spilled registers."""
    if not result.loads:
        return 0.0
    others = len(_OWN_MEMORY.findall(result.assembly))
    return result.loads + others / result.iterations


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
