"""A study of planted times: as many candidates as wanted, predicted, measured, some failing."""

import itertools
import random
from datetime import UTC, datetime, timedelta

from autotune.domain.machine import CacheLevel, InCore, Machine, Memory
from autotune.domain.problem_facts import ProblemFacts
from autotune.domain.results import Measurement, Part, Prediction, Sample
from autotune.domain.variant import Build, ExecutionLayout
from autotune.files.store.records import (
    CandidateRecord,
    RunRecord,
    StoredChoice,
    StoredPrediction,
    StudyRecord,
)

ORDERS = ("ijl", "ilj", "jil", "jli", "lij", "lji")
BLOCKS = (64, 128, 256, 512, 1024, 2048, 4096)
PADS = (0, 5, 13, 21)
TILES = (1, 2, 4, 8, 16, 32)
FLAGS = (("-O2",), ("-O3", "-march=native"))
_BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
_PROBLEM = ProblemFacts(
    label="heat2d-N1024",
    title="2-D heat equation, planted times",
    components=1 << 20,
    key="planted",
    ivp="heat2d",
    method="radau-iia-7",
    correctors=6,
    size=1024,
    step_fraction=0.1,
)


def planted(count: int, seed: int = 1, failing: int = 50) -> StudyRecord:
    """A study of ``count`` candidates, all measured; every ``failing``-th one fails.

    The times depend on the parameters; the model is 10 % off, and 25 % for one of them.
    """
    generator = random.Random(seed)
    space = itertools.product(BLOCKS, TILES, ORDERS, PADS, FLAGS)
    chosen = list(itertools.islice(itertools.cycle(space), count))
    generator.shuffle(chosen)
    candidates, predictions, measurements = [], [], []
    for number, settings in enumerate(chosen):
        candidate = _candidate(number, *settings)
        true = _seconds(*settings)
        off = generator.gauss(1, 0.05) * (0.8 if settings[2] == "lji" else 1.0)
        candidates.append(candidate)
        predictions.append((candidate.identity, _prediction(true * off)))
        failed = number % failing == failing - 1
        measurements.append(_measurement(candidate.identity, number, true, failed, generator))
    order = sorted(predictions, key=lambda pair: pair[1].seconds or 0.0)
    ranked = [StoredPrediction(candidate=c, prediction=p, rank=r)
              for r, (c, p) in enumerate(order, start=1)]  # fmt: skip
    choices = [StoredChoice(candidate=c.identity, place=k, reason="planted")
               for k, c in enumerate(candidates)]  # fmt: skip
    return StudyRecord(
        name="planted",
        config="planted",
        setup_text="schema: autotune.config/1\n",
        created=_BEGUN.isoformat(),
        candidates=tuple(candidates),
        predictions=tuple(ranked),
        runs=(_run(tuple(measurements), tuple(choices)),),
    )


def _seconds(block: int, tile: int, order: str, pad: int, flags: tuple[str, ...]) -> float:
    """The planted time of a candidate."""
    factors = (
        1 + 0.05 * abs(BLOCKS.index(block) - 3),
        1 + 0.04 * abs(TILES.index(tile) - 2),
        1 + 0.3 * ORDERS.index(order),
        1.1 if pad == 0 else 1.0,
        1.2 if flags == ("-O2",) else 1.0,
    )
    seconds = 1e-3
    for factor in factors:
        seconds *= factor
    return seconds


def _candidate(
    number: int, block: int, tile: int, order: str, pad: int, flags: tuple[str, ...]
) -> CandidateRecord:
    variant = f"{order}-block={block}-tile={tile}-pad={pad}"
    return CandidateRecord(
        identity=f"{number:012x}",
        label=f"{variant}@heat2d-N1024",
        variant=variant,
        parameters={"order": order, "block": block, "tile": tile, "pad": pad},
        problem=_PROBLEM,
        build=Build(compiler="gcc", flags=flags),
        layout=ExecutionLayout(threads=2),
        canonical="",
        baseline=number == 0,
    )


def _prediction(seconds: float) -> Prediction:
    """A prediction whose loops take fixed shares, bound by memory or by arithmetic."""
    parts = []
    for kernel, share, core, memory in (
        ("rhs+lc", 0.8, 0.5, 0.75), ("approx", 0.12, 0.9, 0.3), ("update", 0.06, 0.3, 0.9)
    ):  # fmt: skip
        whole = share * seconds
        kinds = {"T_OL": core, "T_nOL": 0.2, "L2": 0.1, "MEM": memory - 0.2, "sweep": 1.0}
        parts += [
            Part(sweep=kernel, kind=kind, seconds=whole * part, kernel=kernel)
            for kind, part in kinds.items()
        ]
    parts.append(Part(sweep="barrier", kind="barrier", seconds=0.02 * seconds))
    return Prediction(
        seconds=seconds,
        interval=(0.85 * seconds, 1.2 * seconds),
        parts=tuple(parts),
        engine="reuse",
        reason="RHS+LC, 80 % of the step: 9 rows from MEM take 55 % of it",
    )


def _measurement(
    candidate: str, number: int, true: float, failed: bool, generator: random.Random
) -> Measurement:
    if failed:
        return Measurement(
            candidate=candidate, run="planted-1", status="build-failed",
            detail="sweep.c:12:3: error: planted", samples=(),
        )  # fmt: skip
    samples = tuple(
        Sample(
            seconds=true * generator.lognormvariate(0, 0.01),
            steps=20,
            busy=0.99,
            undisturbed=generator.random() > 0.03,
            launch=launch,
            round=launch,
            taken=(_BEGUN + timedelta(seconds=number + 0.2 * launch + 0.05 * k)).isoformat(),
        )
        for launch in range(3)
        for k in range(3)
    )
    return Measurement(candidate=candidate, run="planted-1", status="ok", samples=samples)


def _run(measurements: tuple[Measurement, ...], choices: tuple[StoredChoice, ...]) -> RunRecord:
    sizes = (("L1", 32 << 10, 8), ("L2", 512 << 10, 8), ("L3", 16 << 20, 16))
    machine = Machine(
        name="host",
        title="planted, 2 cores",
        architecture="x86_64",
        clock=3.0e9,
        cores=2,
        caches=tuple(
            CacheLevel(name=name, size=size, line=64, ways=ways, cores=1 + (name == "L3"))
            for name, size, ways in sizes
        ),
        memory=Memory(cores=2),
        in_core=InCore(osaca="ZEN1", approximate=False),
        sources={},
    )
    return RunRecord(
        id="planted-1",
        study="planted",
        started=_BEGUN.isoformat(),
        ended=None,
        state="done",
        timings={},
        machine=machine,
        machine_identity="planted",
        choices=choices,
        builds=(),
        measurements=measurements,
        checksums={},
        finished=frozenset(),
    )
