"""Predicts programs by marked loops of their source: the compiled loops and stated streams.

    in core      each marked loop as the candidate's compiler and flags make it, by OSACA
    data         lines of each stream from where its reuse distance says they lie, by the machine's
                 (calibrated) cost of a line there
    together     the model of engine ``reuse``: overlap, entries into loops, barriers, intervals

Parameters that change the compiled code (tile sizes at compile time, flags) act on the first line,
parameters that change the use of the caches on the second.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from autotune.domain.machine import Machine
from autotune.domain.program_model import MarkedLoop, MarkedModel
from autotune.domain.results import Prediction
from autotune.domain.variant import Candidate
from autotune.language.constraint import Value
from autotune.models.engines.base import CompiledSweep
from autotune.models.engines.reuse.evaluation_pieces import ThreadPlacement
from autotune.workloads.program.engine.compiled_loops import (
    Compiled,
    CompiledLoops,
    LoopRequest,
    Wanted,
)
from autotune.workloads.program.engine.formula_facts import FormulaValues
from autotune.workloads.program.engine.program_engine import NAME, finished, unknown
from autotune.workloads.program.engine.stated_flows import LoopWork, StatedStream
from autotune.workloads.program.engine.stated_node import StatedCase, evaluated


@dataclass(frozen=True, slots=True)
class StatedNumbers:
    """The numbers that the description of a model gives for a candidate."""

    works: tuple[LoopWork, ...]
    """Work in the loops that the candidate runs: those with iterations."""
    loops: Wanted
    barriers: float
    extra: float


class MarkedRoute:
    """Predicts candidates by the marked loops of their source."""

    name = NAME

    def __init__(
        self, model: MarkedModel, machine: Machine, compiled: CompiledLoops, facts: FormulaValues
    ) -> None:
        self._model = model
        self._machine = machine
        self._code = compiled
        self._facts = facts

    def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
        """One prediction per candidate, in order; without a time, a reason is given."""
        stated = [self.stated(candidate) for candidate in candidates]
        usable = [k for k, statement in enumerate(stated) if isinstance(statement, StatedNumbers)]
        result = [unknown(statement if isinstance(statement, str) else "") for statement in stated]
        groups: dict[ThreadPlacement, list[tuple[int, StatedNumbers, Compiled]]] = defaultdict(list)
        for place, loops in zip(usable, self.compiled(candidates, stated), strict=True):
            candidate, statement = candidates[place], stated[place]
            if isinstance(loops, str):
                result[place] = unknown(loops)
            elif isinstance(statement, StatedNumbers):
                spread = ThreadPlacement(candidate.threads_per_node, candidate.placement)
                groups[spread].append((place, statement, loops))
        for spread, group in groups.items():
            cases = [
                StatedCase(statement.works, loops, statement.barriers, statement.extra)
                for _, statement, loops in group
            ]
            made = evaluated(self._machine, spread, cases)
            for (place, statement, _), prediction in zip(group, made, strict=True):
                result[place] = finished(prediction, self._model.accuracy, statement.extra)
        return result

    def loops(self, candidate: Candidate) -> tuple[CompiledSweep, ...]:
        """The compiled marked loops of a candidate; none where they are not found."""
        stated = self.stated(candidate)
        if isinstance(stated, str):
            return ()
        (compiled,) = self.compiled([candidate], [stated])
        if isinstance(compiled, str):
            return ()
        return tuple(
            CompiledSweep(sweep=work.name, kernel=work.name, result=result)
            for work, result in zip(stated.works, compiled, strict=True)
        )

    def compiled(
        self, candidates: Sequence[Candidate], stated: Sequence[StatedNumbers | str]
    ) -> list[Compiled | str]:
        """The compiled loops of the candidates that the model covers."""
        return self._code.of(
            [
                LoopRequest(candidate, statement.loops)
                for candidate, statement in zip(candidates, stated, strict=True)
                if isinstance(statement, StatedNumbers)
            ]
        )

    # --- what is stated -------------------------------------------------------------------

    def stated(self, candidate: Candidate) -> StatedNumbers | str:
        """What the model states of a candidate, or why it states nothing."""
        model, facts = self._model, self._facts
        try:
            values = facts.of(candidate, model.where)
            works, loops = list[LoopWork](), list[tuple[int, float | None]]()
            for place, loop in enumerate(model.loops):
                work = self._work(loop, values, candidate.threads)
                if work is not None:
                    works.append(work)
                    loops.append((place, self._flops(loop, values)))
            barriers = facts.least(model.barriers, values, 0.0, "barriers")
            extra = facts.least(model.extra, values, 0.0, "extra")
        except ValueError as error:
            return str(error)
        if not works:
            return "no loop of the model has iterations"
        return StatedNumbers(tuple(works), tuple(loops), barriers, extra)

    def _flops(self, loop: MarkedLoop, values: Mapping[str, Value]) -> float | None:
        if loop.flops is None:
            return None
        return self._facts.least(loop.flops, values, 0.0, f"flops of {loop.name}") or None

    def _work(self, loop: MarkedLoop, values: Mapping[str, Value], threads: int) -> LoopWork | None:
        """The work of one thread in a loop; None where the loop does not run."""
        facts, name = self._facts, loop.name
        iterations = facts.least(loop.iterations, values, 0.0, f"iterations of {name}")
        if iterations == 0:
            return None
        entries = facts.least(loop.entries, values, 0.0, f"entries of {name}")
        workers = facts.least(loop.workers, values, 1.0, f"workers of {name}")
        workers = min(workers, threads)
        return LoopWork(
            name=name,
            iterations=iterations / workers,
            run=max(iterations / entries if entries > 0 else iterations, 1.0),
            alike=workers,
            streams=tuple(
                StatedStream(
                    name=stream.name,
                    bytes=facts.least(stream.bytes, values, 0.0, f"bytes of {stream.name}"),
                    distance=np.inf
                    if stream.reuse is None
                    else facts.least(stream.reuse, values, 0.0, f"reuse of {stream.name}"),
                    access=stream.access,
                )
                for stream in loop.streams
            ),
        )
