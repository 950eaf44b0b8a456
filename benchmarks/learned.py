"""How well learned models predict what was not measured, against the number of measurements.

    python benchmarks/learned.py [FILE or FOLDER ...] [--models pool,ridge] [--sizes 32,64]
                                 [--repeats 10] [--test 2000] [--jobs 1]

Files are recorded spaces (T4, Kernel Tuner cache), by default those of benchmarks/recorded, which
come with predictions; or CSV with a header. For each size and repeat a seeded random draw of rows
is learned from, and of the others at most --test random ones are predicted. Printed for each table:

    mean relative error of every model, with its deviation over the repeats, and published figures
    of the pool: error, rank correlation, loss of the best of the ten first, coverage and half-width
    of nominal 90 % intervals, the group of the least coverage (rows of one value of a parameter,
    all repeats together), CPU time to fit
    of every model: that loss, coverage and half-width, CPU time to fit
    goals with the standard error, and whether they are met
    CPU time to fit the pool to 240 rows of 20 parameters, of --fits planted tables

`pool without` is the pool without the analytical model. Every fit is appended to --results when it
is done and left out when it is there already, as long as the code of the models is the same.
"""

import argparse
import dataclasses
import functools
import hashlib
import json
import math
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import learned_data as data
import learned_score as score
import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

import autotune.learning
from autotune.errors import InputError
from autotune.learning.models.catalogue import MODELS, analytical, model

_RECORDED = Path(__file__).with_name("recorded")
WITHOUT = "pool without"
_SHARED = (
    "conformal.py",
    "encode.py",
    "hybrid.py",
    "pool.py",
    "process.py",
    "ridge.py",
    "trees.py",
)


@dataclass(frozen=True, kw_only=True)
class Task:
    """One model fitted to one training set."""

    path: str
    model: str
    size: int
    repeat: int
    test: int


def main() -> None:
    arguments = _arguments()
    paths = _files([Path(text) for text in arguments.files] or [_RECORDED])
    tasks = {_key(task): task for task in _tasks(paths, arguments)}
    results = Path(arguments.results)
    done = _done(results)
    left = {key: task for key, task in tasks.items() if key not in done}
    print(f"{len(tasks)} fits, {len(tasks) - len(left)} of them done before", flush=True)
    _run(left, results, arguments.jobs)
    done = _done(results)
    print("\n".join(score.lines([done[key] for key in tasks if key in done])))
    print("\n".join(score.fit_lines(_fit_times(arguments.fits))))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("files", nargs="*", help="recorded files, or folders of them")
    parser.add_argument("--models", default=",".join([*MODELS, WITHOUT]))
    parser.add_argument("--sizes", default="", help="training rows; by default those published")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--test", type=int, default=2000, help="test rows at most")
    parser.add_argument("--jobs", type=int, default=1, help="fits at a time")
    parser.add_argument("--fits", type=int, default=5, help="timed fits of the pool, 0 for none")
    parser.add_argument("--results", default="learned.jsonl", help="where fits are kept")
    return parser.parse_args()


def _files(given: Sequence[Path]) -> list[Path]:
    return [
        path
        for each in given
        for path in (sorted(p for p in each.iterdir() if p.is_file()) if each.is_dir() else [each])
    ]


def _tasks(paths: Sequence[Path], arguments: argparse.Namespace) -> Iterator[Task]:
    """All fits: repeat by repeat, so that an interrupted benchmark has all cells."""
    names = [name.strip() for name in arguments.models.split(",")]
    for name in names:
        if name not in (*MODELS, WITHOUT):
            sys.exit(f"unknown model: {name}; expected one of {', '.join([*MODELS, WITHOUT])}")
    asked = tuple(int(size) for size in arguments.sizes.split(",") if size)
    for repeat in range(1, arguments.repeats + 1):
        for path in paths:
            found = _read(str(path))
            guess = found.table.inputs.analytical is not None
            for size in asked or found.sizes:
                for name in names:
                    if guess or not (analytical(name) or name == WITHOUT):
                        yield Task(
                            path=str(path),
                            model=name,
                            size=size,
                            repeat=repeat,
                            test=arguments.test,
                        )


@functools.cache
def _read(path: str) -> data.Data:
    return data.read(Path(path))


def perform(task: Task) -> score.Run | None:
    """One fit, scored; None where the model cannot learn from these rows."""
    table = _read(task.path).table
    chance = np.random.default_rng([task.repeat, task.size])
    order = chance.permutation(len(table))
    train = table.take(order[: task.size])
    test = table.take(order[task.size : task.size + task.test])
    if task.model == WITHOUT:
        train, test = data.bare(train), data.bare(test)
    started = time.process_time()
    try:
        fitted = model(score.POOL if task.model == WITHOUT else task.model).fit(train, task.repeat)
    except InputError:
        return None
    seconds = time.process_time() - started
    figures = score.score(test, fitted.predict(test.inputs, score.LEVEL))
    return score.Run(
        data=table.name,
        model=task.model,
        size=task.size,
        repeat=task.repeat,
        fit=seconds,
        **figures,  # type: ignore[arg-type]
    )


def _fit_times(repeats: int) -> dict[str, list[float]]:
    """CPU seconds of fits of the pool to planted tables, after one that loads what it needs."""
    found: dict[str, list[float]] = {}
    with threadpool_limits(limits=1):
        for repeat in range(repeats + 1 if repeats else 0):
            for kind in ("no analytical model", "an analytical model"):
                table = data.planted(240, 20, kind.startswith("an "), repeat)
                started = time.process_time()
                model(score.POOL).fit(table, repeat)
                if repeat:
                    found.setdefault(kind, []).append(time.process_time() - started)
    return found


def _key(task: Task) -> str:
    """What makes a fit the same: its task and the code of the models."""
    content = Path(task.path).stat().st_size
    state = _code(task.model)
    parts = (Path(task.path).name, content, task.model, task.size, task.repeat, task.test, state)
    return "|".join(map(str, parts))


@functools.cache
def _code(name: str) -> str:
    """A digest of the code of a model: its folder where it has one, else what all others share."""
    folder = Path(autotune.learning.__path__[0])
    own = folder / name.partition("-")[0]
    paths = sorted(own.glob("*.py")) if own.is_dir() else [folder / file for file in _SHARED]
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:12]


def _done(results: Path) -> dict[str, score.Run]:
    found = {}
    for line in results.read_text(encoding="utf-8").splitlines() if results.exists() else []:
        try:
            row = json.loads(line)
            key = str(row.pop("key"))
            found[key] = score.Run(**row)
        except (ValueError, KeyError, TypeError):
            continue  # cut off when the benchmark was killed
    return found


def _run(tasks: Mapping[str, Task], results: Path, jobs: int) -> None:
    """Make the fits, each written down when it is done; Ctrl-C keeps those that are."""
    started = time.monotonic()
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # one core for each fit
    afresh = multiprocessing.get_context("spawn")  # so that numpy sees it
    with results.open("a", encoding="utf-8") as file, ProcessPoolExecutor(jobs, afresh) as pool:
        try:
            for number, (key, run) in enumerate(
                zip(tasks, pool.map(perform, tasks.values()), strict=True), 1
            ):
                if run is not None:
                    file.write(json.dumps({"key": key, **dataclasses.asdict(run)}) + "\n")
                    file.flush()
                if number % 100 == 0 or number == len(tasks):
                    rate = (time.monotonic() - started) / number
                    rest = math.ceil(rate * (len(tasks) - number) / 60)
                    print(f"  {number}/{len(tasks)}, {rest} min left", flush=True)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True, wait=False)
            sys.exit(f"interrupted: the same command goes on from {results}")


if __name__ == "__main__":
    main()
