"""Predicts programs by marked loops with kerncraft's ECM model of their traffic.

    in core    each marked loop as the candidate's compiler makes it, as in ``marked_model``
    data       the stated streams: a line comes from beyond every cache that is smaller than its
               reuse distance, which is the layer condition of the stream; the cycles of so many
               lines are kerncraft's, with its rule of overlap and its memory bandwidth
    together   Eq. 7 to 9 of Scherg et al. 2019, as in engine ``kerncraft``

kerncraft itself takes no loop of a program: it knows no strides, tiles or calls. Its layer
conditions are therefore those that the model of the program states.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from autotune.domain.machine import Machine
from autotune.domain.program_model import MarkedModel
from autotune.domain.results import Prediction
from autotune.domain.setup import Saturation
from autotune.domain.variant import Candidate
from autotune.models.engines.ecm_arithmetic import domain_share, step_seconds
from autotune.models.engines.explain import UNKNOWN_BARRIER
from autotune.models.engines.kerncraft import prediction_parts
from autotune.models.engines.kerncraft.kerncraft_engine import RULES
from autotune.models.engines.kerncraft.node_stretches import StretchRequests, StretchTiming
from autotune.models.engines.kerncraft.step_uncertainty import TimedStep, step_uncertainty
from autotune.models.engines.reuse.case_evaluation import Evaluator
from autotune.models.incore.base import InCoreResult
from autotune.models.kerncraft import EcmModel
from autotune.models.kerncraft.kerncraft_record import KerncraftRecord, LineTransfers
from autotune.models.kerncraft.kernel_routes import KernelRoutes, RoutedModel
from autotune.models.kerncraft.size_polynomial import SizePolynomial
from autotune.units import Seconds
from autotune.workloads.program.engine.compiled_loops import Compiled
from autotune.workloads.program.engine.marked_model import MarkedRoute, StatedNumbers
from autotune.workloads.program.engine.program_engine import NAME, finished, unknown
from autotune.workloads.program.engine.stated_flows import LoopWork

_DOUBLE = 8
_NOTE = "traffic by kerncraft 0.8.18 of the streams and reuse distances that the model states"

Lines = tuple[float, float]
"""Lines loaded and lines stored in a line of work."""


@dataclass(frozen=True, slots=True)
class _Loop:
    """A marked loop, under the names of a stretch."""

    sweep: str
    kernel: str


@dataclass(frozen=True, slots=True)
class _Loops:
    stretches: tuple[_Loop, ...]


@dataclass(frozen=True, slots=True)
class StreamConditions:
    """The layer conditions of the streams of a loop: distances, and lines that miss each."""

    distances: tuple[int, ...]
    """Bytes, the largest first; a cache of so many bytes holds all streams up to this one."""
    lines: tuple[Lines, ...]
    """One more: where a condition is the first to hold, and where none does."""


def conditions(work: LoopWork) -> StreamConditions:
    """The layer conditions of a loop's streams.

    Every stream is loaded, also where it is written only (write-allocate), as kerncraft counts.
    """
    finite = {math.ceil(s.distance) for s in work.streams if np.isfinite(s.distance)}
    distances = tuple(sorted(finite | {0}, reverse=True))
    lines = [_missing(work, distance) for distance in distances]
    return StreamConditions(distances, (*lines, _missing(work, -1)))


def _missing(work: LoopWork, distance: int) -> Lines:
    """Lines per line of work of the streams that come back after more than a distance."""
    far = [stream for stream in work.streams if stream.distance > distance]
    return (
        sum(stream.bytes for stream in far) / _DOUBLE,
        sum(stream.bytes for stream in far if stream.access != "read") / _DOUBLE,
    )


class MarkedKerncraftRoute:
    """Predicts candidates by the marked loops of their source and kerncraft's model of traffic."""

    name = NAME

    def __init__(
        self,
        model: MarkedModel,
        machine: Machine,
        loops: MarkedRoute,
        routes: KernelRoutes,
        saturation: Saturation = "paper",
    ) -> None:
        self._model = model
        self._machine = machine
        self._loops = loops
        self._routes = routes
        self._saturation: Saturation = saturation
        self._evaluator = Evaluator(machine)

    def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
        """One prediction per candidate, in order; without a time, a reason is given."""
        stated = [self._loops.stated(candidate) for candidate in candidates]
        usable = [k for k, statement in enumerate(stated) if isinstance(statement, StatedNumbers)]
        result = [unknown(statement if isinstance(statement, str) else "") for statement in stated]
        code = dict(zip(usable, self._loops.compiled(candidates, stated), strict=True))
        works = [work for s in stated if isinstance(s, StatedNumbers) for work in s.works]
        needed = dict.fromkeys(lines for work in works for lines in conditions(work).lines)
        if not needed:
            return result
        transfers = self._routes.transfers([*needed])
        for place, loops in code.items():
            statement = stated[place]
            if isinstance(loops, str) or isinstance(transfers, str):
                result[place] = unknown(loops if isinstance(loops, str) else str(transfers))
            elif isinstance(statement, StatedNumbers):
                result[place] = self._predicted(candidates[place], statement, loops, transfers)
        return result

    def _predicted(
        self,
        candidate: Candidate,
        stated: StatedNumbers,
        loops: Compiled,
        transfers: LineTransfers,
    ) -> Prediction:
        batch = StretchRequests(self._machine, self._saturation)
        models: dict[str, RoutedModel | str] = {}
        for work, result in zip(stated.works, loops, strict=True):
            models[work.name] = self._ecm(work, result, transfers)
            busy = round(work.alike + 0.499)
            memory, cores = self._machine.memory.cores, self._machine.cores
            inside, part = domain_share(busy, memory, candidate.placement, cores)
            batch.add(work.name, {"N": 1}, inside, work.iterations * busy * part)
        timing = batch.evaluate(models)
        rough = [result.approximate for result in loops]
        made = self._prediction(candidate, stated, timing, rough)
        routes = ", ".join(sorted({result.route for result in loops}))
        notes = [_NOTE, f"in-core by {routes}", RULES[self._saturation]]
        if stated.barriers and self._evaluator.barrier(candidate.threads) is None:
            notes.append(UNKNOWN_BARRIER)
        return finished(replace(made, notes=tuple(notes)), self._model.accuracy, stated.extra)

    def _ecm(self, work: LoopWork, result: InCoreResult, transfers: LineTransfers) -> RoutedModel:
        """The ECM model of a loop with the work of its compiled code."""
        rules = conditions(work)
        line = int(self._machine.line) // _DOUBLE
        record = KerncraftRecord(
            constants=("N",),
            levels=transfers.levels,
            overlapping=transfers.overlapping,
            caches=transfers.caches,
            socket_cores=transfers.socket_cores,
            needed=tuple(SizePolynomial(((distance, ()),)) for distance in rules.distances),
            options=tuple(transfers.options[lines] for lines in rules.lines),
            T_OL=line * float(result.T_OL),
            T_nOL=line * float(result.T_nOL),
            iterations_per_line=float(line),
            compiler="",
            samples=(),
        )
        crowded = float(result.crowded or result.T_OL)
        both = replace(record, T_OL=line * crowded)
        return RoutedModel(EcmModel(record), result.route, EcmModel(both))

    def _prediction(
        self,
        candidate: Candidate,
        stated: StatedNumbers,
        timing: StretchTiming,
        rough: Sequence[bool],
    ) -> Prediction:
        barrier = self._evaluator.barrier(candidate.threads) or 0.0
        barriers = stated.barriers * barrier
        seconds = step_seconds(timing.seconds, stated.barriers, barrier)
        if not (np.isfinite(seconds) and seconds > 0):
            return unknown("kerncraft's model of the marked loops gives no time")
        plan = _Loops(tuple(_Loop(work.name, work.name) for work in stated.works))
        threads, memory = candidate.threads_per_node, self._machine.memory.cores
        cores, _ = domain_share(threads, memory, candidate.placement, self._machine.cores)
        step = TimedStep(timing=timing, rough=rough, barriers=barriers, seconds=seconds)
        return Prediction(
            seconds=Seconds(seconds),
            interval=None,
            parts=prediction_parts.parts(plan, timing, barriers),
            engine=NAME,
            reason=prediction_parts.reason(plan, timing, barriers, seconds, cores),
            uncertainty=step_uncertainty(self._evaluator, candidate, step),
        )
