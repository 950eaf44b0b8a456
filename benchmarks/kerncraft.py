"""Engine kerncraft on every machine and problem; and beside the other engines on stencils here.

    python benchmarks/kerncraft.py table [--machine-files FOLDER] [--only TEXT] [--engines ...]
    python benchmarks/kerncraft.py host --store FILE [--sets stencils,...]

`table` runs nothing: it predicts the plain program of six IVPs and of every shipped stencil, one
thread, on the five shipped machines and on all machine files of a folder, such as the seventeen in
`examples/machine-files` of kerncraft's source distribution. Of each machine, problem and engine it
prints the predicted time of a step, or `-` and a number that stands for a reason; below it the
reasons, which name the construct, and the routes of the time in the core.

`host` scores engines on stencils against times measured on this host by

    python benchmarks/accuracy.py measure --sets stencils --store FILE

    mdev     median of abs((predicted - measured) / measured); bias without abs
    pairs    share of the pairs measured more than 5 % apart that are predicted in that order; equal
             predictions are no order
    loss     of the candidate predicted first, mean over the cells; ties by the order of the space
    floor    noise floor of the cells: a loss below it is undecidable
"""

import argparse
import dataclasses
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from accuracy_score import Times, times_of
from accuracy_sets import SETS

from autotune import paths
from autotune.commands.rank import ranked_space
from autotune.commands.rank.host_machine import HOST, machine
from autotune.domain.family import STENCIL
from autotune.domain.machine import Machine
from autotune.domain.results import Prediction
from autotune.errors import AutotuneError
from autotune.files import config
from autotune.results.report import number_words
from autotune.results.report.text_table import columns
from autotune.statistics import estimators
from autotune.toolchain.cross_compilers import CROSS_COMPILERS, is_host
from autotune.workloads.base import Workload
from autotune.workloads.shipped import workload_of

IVPS = ("heat2d", "inverterchain", "medakzo", "string-mix", "string-row", "wave1d")
_COMPONENTS, _CUBE, _SQUARE = 1_000_000, 200, 2000


def main() -> None:
    arguments = _arguments()
    if arguments.command == "table":
        table(arguments.machine_files, arguments.only, arguments.engines.split(","))
    else:
        host(arguments.store, arguments.sets.split(","))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    every = commands.add_parser("table")
    every.add_argument("--machine-files", type=Path, help="a folder of kerncraft's machine files")
    every.add_argument("--only", default="", help="machines whose names hold this text")
    every.add_argument("--engines", default="kerncraft,reuse,planes")
    scored = commands.add_parser("host")
    scored.add_argument("--store", required=True)
    scored.add_argument("--sets", default="stencils")
    return parser.parse_args()


def _silent(stage: str, done: int, total: int, detail: str = "") -> None:
    pass


# --- every machine and problem ------------------------------------------------------------------


def table(folder: Path | None, only: str, engines: Sequence[str]) -> None:
    """One block per machine: problems as rows, engines as columns."""
    reasons: dict[str, int] = {}
    count = told = 0
    for name in _machines(folder, only):
        try:
            on = config.machine(name)
        except AutotuneError as error:
            print(f"\n{Path(name).stem}: {error}")
            continue
        lines, routes = [("", *engines)], dict[str, None]()
        for workload in _workloads(on):
            cells = []
            for engine in engines:
                prediction = _predicted(workload, on, engine)
                count += 1
                told += prediction.seconds is not None
                cells.append(_cell(prediction, reasons))
                routes |= dict.fromkeys(n for n in prediction.notes if "in-core by" in n)
            lines.append((workload.setup.problems[0].label, *cells))
        print(f"\n{on.name}\n{columns(lines, right=range(1, len(lines[0])))}", flush=True)
        for route in routes:
            print(f"  {route}")
    print(f"\n{told} of {count} have a number; reasons of the others:")
    for reason, number in reasons.items():
        print(f"  ({number}) {reason}")


def _machines(folder: Path | None, only: str) -> Iterator[str]:
    theirs = [str(path) for path in sorted(folder.glob("*.yml"))] if folder else []
    yield from (name for name in (*paths.names("machines"), *theirs) if only in Path(name).stem)


def _workloads(on: Machine) -> Iterator[Workload]:
    """The plain program of every problem, built as the machine file says."""
    for ivp in IVPS:
        size = _COMPONENTS
        if ivp == "heat2d":
            size = int(_COMPONENTS**0.5)
        elif ivp in ("medakzo", "string-mix", "string-row"):
            size = _COMPONENTS // 2
        entry = f"{{ivp: {ivp}, method: radau-iia-7, correctors: 6, size: {size}}}"
        yield _workload(on, "pirk", "pirk-orders", entry)
    for stencil in paths.names("kernels/stencil"):
        flat = len(config.stencil(stencil).dimensions) == 2
        entry = f"{{stencil: {stencil}, size: {_SQUARE if flat else _CUBE}}}"
        ordered = config.stencil(stencil).in_place
        skeleton = "gauss-seidel" if ordered else "jacobi"
        yield _workload(on, skeleton, "gauss-seidel" if ordered else "stencil-small", entry)


def _workload(on: Machine, skeleton: str, space: str, entry: str) -> Workload:
    compiler, flags = _build(on)
    text = (
        "schema: autotune.config/1\ntitle: one program\nmachine: haswell-e5-2630v3\n"
        f"skeleton: {skeleton}\nspace: {space}\nproblems: [{entry}]\nthreads: [1]\n"
        f"builds: [{{compiler: {compiler}, flags: [{', '.join(map(repr, flags))}]}}]\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.yaml"
        path.write_text(text, encoding="utf-8")
        setup = config.load(path)
    return workload_of(dataclasses.replace(setup, machine=on))


def _build(on: Machine) -> tuple[str, list[str]]:
    """The compiler and flags for a machine: gcc, or a cross compiler where one is installed."""
    flags = on.compilers.get("gcc", "-O3").split()
    if is_host(on.architecture):
        return "gcc", flags
    cross = CROSS_COMPILERS.get(on.architecture)
    return (cross.program, flags) if cross and cross.installed else ("gcc", ["-O3"])


def _predicted(workload: Workload, on: Machine, engine: str) -> Prediction:
    setup = workload.setup
    if engine not in workload.engines:
        reason = f"engine {engine} is not for {workload.title}"
        return Prediction(seconds=None, interval=None, parts=(), engine=engine, reason=reason)
    candidate = workload.baseline(setup.problems[0], 1, setup.builds[0])
    try:
        with workload.predictor(engine, on, _silent) as predictor:
            (made,) = predictor.predict([candidate])
    except AutotuneError as error:
        return Prediction(seconds=None, interval=None, parts=(), engine=engine, reason=str(error))
    return made


def _cell(prediction: Prediction, reasons: dict[str, int]) -> str:
    if prediction.seconds is not None:
        return number_words.seconds(prediction.seconds)
    return f"- ({reasons.setdefault(prediction.reason, len(reasons) + 1)})"


# --- beside the other engines on this host -------------------------------------------------------


def host(store: str, sets: Sequence[str]) -> None:
    """Each engine on the measured stencils: deviation, order and loss of the first choice."""
    here = machine(HOST)
    wanted = [cell for name in sets for cell in SETS[name]() if cell.skeleton == "jacobi"]
    cells = list(times_of(store, wanted, here))
    if not cells:
        raise SystemExit(f"{store} holds no study of {', '.join(sets)}")
    lines: list[tuple[str, ...]] = [
        ("", "cells", "mdev", "bias", "pairs", "loss, mean", "largest", "no number")
    ]
    for engine in STENCIL.engines:
        lines.append(_scored(engine, cells, here))
    print(columns(lines, right=range(1, len(lines[0]))))
    floors = [floor.mean for times in cells if (floor := _floor(times)) is not None]
    if floors:
        print(f"noise floor of the cells: {number_words.percent(statistics.fmean(floors))} mean")


def _floor(times: Times) -> estimators.NoiseFloor | None:
    rounds = {c.identity: r for c, r in zip(times.candidates, times.rounds, strict=True)}
    return estimators.noise_floor(rounds)


def _scored(engine: str, cells: Sequence[Times], here: Machine) -> tuple[str, ...]:
    deviations, pairs, losses, missing = [], [], [], 0
    for times in cells:
        made = _of_cell(times, here, engine)
        numbers = [k for k, p in enumerate(made) if p.seconds is not None]
        missing += len(made) - len(numbers)
        if len(numbers) < 2:
            continue
        predicted = np.array([made[k].seconds for k in numbers], dtype=np.float64)
        measured = times.seconds[numbers]
        deviations.append(predicted / measured - 1)
        ordered = estimators.ordered_pairs(predicted, measured)
        pairs += [] if ordered is None else [ordered]
        losses.append(estimators.loss(float(measured[predicted.argmin()]), float(measured.min())))
    if not deviations:
        return (engine, "0", *("-",) * 5, str(missing))
    every = np.concatenate(deviations)
    figures = (
        float(np.median(np.abs(every))), float(every.mean()), statistics.fmean(pairs),
        statistics.fmean(losses), max(losses),
    )  # fmt: skip
    words = [number_words.percent(value) for value in figures]
    return (engine, str(len(deviations)), *words, str(missing))


def _of_cell(times: Times, here: Machine, engine: str) -> list[Prediction]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cell.yaml"
        path.write_text(times.cell.config(5), encoding="utf-8")
        workload = ranked_space.load(path)
    with workload.predictor(engine, here, _silent) as predictor:
        return predictor.predict(times.candidates)


if __name__ == "__main__":
    main()
