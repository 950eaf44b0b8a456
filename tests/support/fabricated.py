"""Fabricated but realistic studies: candidates, predictions, samples of a two-core host."""

import random
from dataclasses import dataclass

from autotune.domain.calibration import BandwidthCurve, Calibration
from autotune.domain.machine import CacheLevel, InCore, Machine, Memory
from autotune.domain.problem import ButcherTableau, Ivp, Problem, Region
from autotune.domain.ranking import Ranked, rank
from autotune.domain.results import Part, Prediction, Prepared, Sample
from autotune.domain.variant import Build, Candidate, ExecutionLayout, Interchange, Pad, Variant
from autotune.files.store import RunFacts, StoredChoice, StudyOrigin
from autotune.language.expression import parse
from autotune.measuring.host import host_probe

ORDERS = ("ijl", "ilj", "jil", "jli", "lij", "lji")
MIDPOINT = ButcherTableau(
    name="midpoint", title="Gauss, 1 stage", order=2, A=((0.5,),), b=(1.0,), c=(0.5,), source="-"
)


def ivp(name: str = "heat2d", title: str = "2-D heat equation") -> Ivp:
    """A problem of N*N components."""
    return Ivp(
        name=name,
        title=title,
        source="test",
        dimension=parse("N*N"),
        constants={},
        access_distance=parse("1"),
        limited=True,
        regions=(Region(lower=parse("0"), upper=parse("n"), body=parse("-y[j]")),),
        initial=(Region(lower=parse("0"), upper=parse("n"), body=parse("1.0")),),
        stability=parse("1.0"),
    )


def problem(size: int = 256, **names: str) -> Problem:
    return Problem(ivp=ivp(**names), method=MIDPOINT, correctors=1, size=size)


def candidate(order: str = "jli", size: int = 256, pad: int = 5, threads: int = 2) -> Candidate:
    variant = Variant(
        skeleton="pirk",
        transformations=(Interchange("lc", tuple(order)), Pad(pad)),
        parameters={"order": order, "au": False, "tile": None, "pad": pad},
    )
    return Candidate(
        variant=variant,
        problem=problem(size),
        build=Build(),
        layout=ExecutionLayout(threads=threads),
    )


def sample(seconds: float = 1e-3, **fields: object) -> Sample:
    values: dict[str, object] = {
        "seconds": seconds,
        "steps": 20,
        "busy": 0.99,
        "undisturbed": True,
        "launch": 0,
        "round": 0,
        "taken": "2026-11-21T03:00:00+00:00",
        "conditions": {"load": 0.3, "priority": "autogroup", "threads": 2},
    }
    return Sample(**(values | fields))


def prediction(seconds: float | None = 1e-3, engine: str = "reuse", reason: str = "") -> Prediction:
    if seconds is None:
        return Prediction(seconds=None, interval=None, parts=(), engine=engine, reason=reason)
    shares = {"rhs_first": 0.1, "rhs": 0.3, "lc": 0.45, "approx": 0.07, "update": 0.07}
    parts = []
    for sweep, share in shares.items():
        parts.append(Part(sweep=sweep, kind="T_OL", seconds=0.3 * share * seconds))
        parts.append(Part(sweep=sweep, kind="L2", seconds=0.2 * share * seconds))
        memory = 0.5 * share * seconds
        parts.append(Part(sweep=sweep, kind="MEM", seconds=memory, extrapolated=sweep == "lc"))
        parts.append(Part(sweep=sweep, kind="sweep", seconds=share * seconds))
    parts.append(Part(sweep="barriers", kind="barrier", seconds=0.01 * seconds))
    return Prediction(
        seconds=seconds,
        interval=(0.8 * seconds, 1.3 * seconds),
        parts=tuple(parts),
        engine=engine,
        reason=reason or "lc waits for memory: 3 streams of 8 B per component",
        notes=("in-core: osaca:ZEN4 (nearest)",),
    )


def ranked(pairs: list[tuple[Candidate, Prediction]]) -> list[Ranked]:
    """Candidates with their predictions, ranked among one another in each problem."""
    rankings = rank([one for one, _ in pairs], [predicted for _, predicted in pairs])
    return [entry for ranking in rankings for entry in ranking.entries]


def machine(*, calibrated: bool = True) -> Machine:
    kib, mib = 1024, 1024**2
    cores = (2, 1, 1)
    sizes = (32 * mib, 1 * mib, 32 * kib)
    ways = (16, 8, 8)
    caches = tuple(
        CacheLevel(name=f"L{3 - i}", size=sizes[i], line=64, ways=ways[i], cores=cores[i])
        for i in (2, 1, 0)
    )
    return Machine(
        name="host",
        title="AMD EPYC 9R14, 2 cores",
        architecture="x86_64",
        clock=3.7e9,
        cores=2,
        caches=caches,
        memory=Memory(cores=2),
        in_core=InCore(osaca="ZEN4", approximate=True),
        sources={"clock": "cpufreq", "caches": "sysfs"},
        calibration=calibration() if calibrated else None,
    )


def calibration() -> Calibration:
    sizes = tuple(8192 * 2**k for k in range(16))

    def curve(threads: int, loss: float) -> BandwidthCurve:
        levels = [60.0] * 2 + [30.0] * 5 + [13.0] * 5 + [7.0 * loss] * 4
        return BandwidthCurve(
            threads=threads, working_set=sizes, bandwidth=tuple(levels), spread=(0.05,) * 16
        )

    return Calibration(
        identity="abc123",
        taken="2026-11-21T02:00:00+00:00",
        seconds=42.0,
        clock=3.65e9,
        clock_spread=0.006,
        curves=(curve(1, 1.0), curve(2, 0.6)),
        barriers={2: 0.3e-6},
        exposed={"L2": 0.4, "L3": 0.7, "MEM": 0.85},
        contended=False,
        priority="autogroup",
        compiler="gcc 12.2.0",
        probe=host_probe.identity(),
    )


def facts(*, calibrated: bool = True) -> RunFacts:
    return RunFacts(
        machine=machine(calibrated=calibrated),
        machine_identity="abc123",
        versions={"autotune": "0.1.0", "commit": "1a2b3c", "python": "3.11.2", "osaca": "0.7.1"},
        conditions={"load": 0.21, "priority": "autogroup", "huge pages": "madvise"},
    )


@dataclass(frozen=True)
class Fate:
    """What becomes of one fabricated candidate."""

    seconds: float
    predicted: float | None
    status: str = "ok"
    detail: str = ""


def fates(seed: int = 1, scale: float = 1e-3) -> dict[str, Fate]:
    """Order and padding to fate: twelve candidates, two of which fail."""
    generator = random.Random(seed)
    result = {}
    for number, order in enumerate(ORDERS):
        for pad in (0, 5):
            true = scale * (1 + 0.35 * ((number * 2) % 5) + (0.8 if pad == 0 else 0.0))
            guess = true * generator.uniform(0.8, 1.3)
            result[f"{order}{pad}"] = Fate(true, guess)
    text = "sweep.c:12:3: error: 'a<b' && \"c\" undeclared\n  for (long j = 0; j < n; j++)\n  ^~~"
    result["lij0"] = Fate(scale, result["lij0"].predicted, "build-failed", text)
    result["lji0"] = Fate(scale, result["lji0"].predicted, "timed-out", "ended after 60 s")
    result["ilj0"] = Fate(scale, None)
    return result


def fill(store, name: str = "quick", sizes: tuple[int, ...] = (256, 2048), rounds: int = 5) -> str:
    """A whole study in a store: two problems, twelve candidates each; the id of its run."""
    store.begin_study(
        name, StudyOrigin(config="quickstart", setup_text="schema: autotune.config/1\n")
    )
    run = store.begin_run(name, facts())
    generator = random.Random(7)
    for size in sizes:
        scale = 1e-3 * (size / 256) ** 2
        plan = fates(size, scale)
        group = {key: candidate(key[:3], size, int(key[3:])) for key in plan}
        baseline = group["jli5"].identity
        everyone = [c for s in sizes if s <= size for c in _all(s)]
        store.add_candidates(name, everyone, baselines=[c.identity for c in _baselines(sizes)])
        pairs = [
            (group[key], prediction(fate.predicted, reason="" if fate.predicted else "no loop"))
            for key, fate in plan.items()
        ]
        store.add_predictions(name, ranked(pairs))
        chosen = sorted(plan, key=lambda key: (plan[key].predicted or 9e9, key))[:10]
        chosen = list(dict.fromkeys([*chosen, "jli5", "lij0", "lji0"]))
        store.add_choices(
            run,
            [
                StoredChoice(
                    candidate=group[key].identity,
                    place=place,
                    reason="the baseline" if key == "jli5" else f"predicted place {place + 1}",
                )
                for place, key in enumerate(chosen)
            ],
        )
        for key in chosen:
            measure(store, run, group[key], plan[key], rounds, generator)
        assert baseline
    store.end_run(run, timings={"predict": 0.8, "build": 21.0, "run": 96.5, "calibrate": 41.0})
    return run


def _all(size: int) -> list[Candidate]:
    return [candidate(key[:3], size, int(key[3:])) for key in fates(size)]


def _baselines(sizes: tuple[int, ...]) -> list[Candidate]:
    return [candidate("jli", size, 5) for size in sizes]


def measure(
    store, run: str, one: Candidate, fate: Fate, rounds: int, generator: random.Random
) -> None:
    """Build, launch and finish one candidate."""
    failed = fate.status == "build-failed"
    store.add_prepared(
        run,
        Prepared(
            candidate=one,
            status=fate.status if failed else "ok",
            detail=fate.detail if failed else "",
            error=None if failed else 3.1e-16,
            build="" if failed else "f00d" * 8,
            provenance={"compiler": "gcc 12.2.0", "flags": "-O3 -march=znver3"},
        ),
    )
    if failed:
        store.add_outcome(run, one.identity, "build-failed", fate.detail)
        return
    for launch in range(rounds if fate.status == "ok" else 0):
        drift = generator.uniform(1.0, 1.03)
        for number in range(4):
            seconds = fate.seconds * drift * (1 + abs(generator.gauss(0, 0.02)))
            taken = f"2026-11-21T03:{launch:02d}:{number:02d}+00:00"
            warm = number == 0
            memory = (9 if fate.seconds < 1.5e-3 else 6) * (1 << 20) + 4096 * launch
            known = {"load": 0.3, "priority": "autogroup", "threads": 2, "memory_bytes": memory}
            fields = {"launch": launch, "round": launch, "warm_up": warm, "taken": taken}
            timed = sample(seconds, **fields, conditions=known)
            store.add_sample(run, one.identity, number, timed)
    checksum = (1.25, 3.5) if fate.status == "ok" else None
    store.add_outcome(run, one.identity, fate.status, fate.detail, checksum)
