"""How many evaluations until the best of a recorded space: our search against its peers.

    python benchmarks/replay.py [FILE or FOLDER ...] [--seeds 100] [--methods model,random]
                                [--models cold,engine] [--jobs 2] [--kernel-tuner PYTHON]
                                [--residual process,pool] [--prior none,sibling,reversed]
                                [--first-seed 105] [--seed-step 1] [--failing 0,0.3,0.8]

Spaces are recorded files (T4, Kernel Tuner cache, CSV); by default those of benchmarks/recorded.
Counted are unique evaluations, failures among them, until one is within 5 % and within 1 % of the
recorded best; repeats and combinations that were not recorded are free. Our search runs in the loop
of `autotune tune`, with its first candidates, and a launch gives the recorded time. Methods:

    model             our search, told nothing, or with a model that is wrong by a known error:
                      independent (each candidate by itself) or systematic (each value and pair of
                      values of parameters by its own), 0.2 or 0.4 in the logarithm; with one whose
                      logarithm is correlated with the true one by a number, with the spread of the
                      space and otherwise systematically wrong; `engine`: with the predictions that
                      the file holds
    order             by those predictions alone
    random            without replacement
    tpe               Optuna's TPE with its defaults over the Cartesian product
    kt-genetic, kt-greedy-ils, kt-basin-hopping
                      Kernel Tuner's optimisers with their defaults in simulation mode; they need
                      a Python that has it:
                      python -m venv kt && kt/bin/pip install 'kernel_tuner>=1.5,<2'

Our search may explain where its model is wrong by a process or by the pool of learned models
(--residual), and begin with a prior (--prior): the pool of another study of 60 evaluations, of the
space most like it (sibling), of its own times made wrong (distorted 0.2, distorted 0.4) or turned
round (reversed) or mixed up (shuffled). Each combination is a method of its own.

With --failing so large a share of the candidates fails, by regions. Beside evaluations is P, the
score against random search (`replay_performance`), up to the budget. Headlines leave out the spaces
and seeds on which settings were chosen (`replay_chosen_on.txt`); the default seeds are others.

Every run is appended to --results when it is done, and left out when it is there already (those of
our search only as long as its code is the same), so that an interrupted benchmark goes on where it
was. Bounds are 95 %: Wilson's of shares, bootstrap of medians, bootstrap over spaces in headlines.
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
from pathlib import Path

import replay_methods as methods
import replay_peers
import replay_priors as priors
import replay_score as score

import autotune.commands.replay
import autotune.learning
import autotune.tuning
import autotune.tuning.search
from autotune.commands.tune import study_prior
from autotune.domain.setup import LEARNERS
from autotune.errors import AutotuneError
from autotune.files.recorded.read_recorded import read
from autotune.files.recorded.recorded_space import RecordedSpace

_RECORDED = Path(__file__).with_name("recorded")
_CHOSEN_ON = Path(__file__).with_name("replay_chosen_on.txt")


def main() -> None:
    arguments = _arguments()
    paths = _files([Path(text) for text in arguments.spaces] or [_RECORDED])
    wanted = _wanted(arguments)
    try:
        tasks = list(_tasks(paths, wanted, arguments))
    except AutotuneError as error:
        sys.exit(str(error))
    results = Path(arguments.results)
    done = _done(results)
    states = {task: _key(task) for task in tasks}
    left = [task for task in tasks if states[task] not in done]
    print(f"{len(tasks)} runs, {len(tasks) - len(left)} of them done before", flush=True)
    _run({states[task]: task for task in left}, results, arguments.jobs)
    done = _done(results)
    runs = [done[states[task]] for task in tasks if states[task] in done]
    chosen_on = score.ChosenOn.read(Path(arguments.chosen_on).read_text(encoding="utf-8"))
    print("\n".join(score.lines(runs, chosen_on)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("spaces", nargs="*", help="recorded files, or folders of them")
    parser.add_argument("--seeds", type=int, default=100, help="how many")
    parser.add_argument("--first-seed", type=int, default=105)
    parser.add_argument("--seed-step", type=int, default=1, help="2: every other seed")
    parser.add_argument(
        "--failing", default="0", help="shares of failing candidates, such as 0,0.3,0.8"
    )
    parser.add_argument("--methods", default=",".join(methods.METHODS))
    parser.add_argument("--models", default=",".join(methods.MODELS))
    parser.add_argument("--residual", default="process", help="process, pool or both")
    parser.add_argument("--prior", default=priors.NONE, help=", ".join(priors.PRIORS))
    parser.add_argument("--budget", type=int, default=200, help="evaluations of a run")
    parser.add_argument("--peer-budget", type=int, default=120, help="of Optuna, Kernel Tuner")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--kernel-tuner", default=sys.executable, help="the Python that has it")
    parser.add_argument("--results", default="replay.jsonl", help="where runs are kept")
    parser.add_argument(
        "--chosen-on",
        default=str(_CHOSEN_ON),
        help="file of spaces and seeds that settings of the search were chosen on",
    )
    return parser.parse_args()


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _files(given: Sequence[Path]) -> list[Path]:
    return [
        path
        for each in given
        for path in (sorted(p for p in each.iterdir() if p.is_file()) if each.is_dir() else [each])
    ]


def _wanted(arguments: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Methods and models, those of Kernel Tuner left out with a word where it is absent."""
    named, models = _listed(arguments.methods), _listed(arguments.models)
    for text, known in (
        (arguments.methods, methods.METHODS),
        (arguments.models, methods.MODELS),
        (arguments.residual, LEARNERS),
        (arguments.prior, priors.PRIORS),
    ):
        for name in _listed(text):
            if name not in known:
                sys.exit(f"unknown: {name}; expected one of {', '.join(known)}")
    needed = [name for name in named if name in methods.STRATEGIES]
    if needed and not replay_peers.present(arguments.kernel_tuner):
        print(
            f"left out: {', '.join(needed)} ({arguments.kernel_tuner} has no kernel_tuner);"
            f" to install it: {replay_peers.INSTALL}",
            file=sys.stderr,
        )
        named = [name for name in named if name not in needed]
    return named, models


def _tasks(
    paths: Sequence[Path], wanted: tuple[list[str], list[str]], arguments: argparse.Namespace
) -> Iterator[methods.Task]:
    """All runs: seed by seed, so that an interrupted benchmark has all cells."""
    named, models = wanted
    spaces = [(path, read(path)) for path in paths]
    step = arguments.seed_step
    first = arguments.first_seed
    for seed in range(first, first + step * arguments.seeds, step):
        for path, space in spaces:
            for method in named:
                for model in models:
                    if model == "engine" and math.isnan(space.predicted.min()):
                        continue
                    if (method in methods.PEERS and model != score.COLD) or (
                        method == "order" and model == score.COLD
                    ):
                        continue
                    slow = method in methods.STRATEGIES or method == "tpe"
                    task = methods.Task(
                        path=str(path),
                        space=space.name,
                        method=method,
                        model=model,
                        seed=seed,
                        budget=arguments.peer_budget if slow else arguments.budget,
                        python=arguments.kernel_tuner,
                    )
                    for share in _listed(arguments.failing):
                        failing = dataclasses.replace(task, failing=float(share))
                        yield from _variants(failing, spaces, arguments)


def _variants(
    task: methods.Task,
    spaces: Sequence[tuple[Path, RecordedSpace]],
    arguments: argparse.Namespace,
) -> Iterator[methods.Task]:
    """Our search with each of the residual models and priors; a space without siblings has none."""
    if task.method != score.OURS:
        yield task
        return
    own = next(space for path, space in spaces if str(path) == task.path)
    alike = [(priors.likeness(own, s), str(path)) for path, s in spaces if str(path) != task.path]
    best = max(alike, default=(0.0, ""))
    for residual in LEARNERS:
        for name in _listed(arguments.prior):
            if residual in _listed(arguments.residual) and (name != "sibling" or best[0]):
                sibling = best[1] if name == "sibling" else ""
                yield dataclasses.replace(task, residual=residual, prior=name, sibling=sibling)


def _key(task: methods.Task) -> str:
    """What makes a run the same: its task and, of our search, the code."""
    plain = task.label == score.OURS
    state = _code(learned=not plain) if task.method == score.OURS else ""
    content = Path(task.path).stat().st_size
    parts = [task.space, content, task.label, task.setting, task.seed, task.budget, state]
    return "|".join(map(str, [*parts, Path(task.sibling).name] if task.sibling else parts))


@functools.cache
def _code(*, learned: bool) -> str:
    """A digest of the code of our search, as it was when the benchmark began; ``learned``: and of
    the learned models."""
    rooms = (autotune.commands.replay, autotune.tuning, autotune.tuning.search)
    paths = sorted(path for room in rooms for path in Path(room.__path__[0]).glob("*.py"))
    if learned:
        paths += sorted(Path(autotune.learning.__path__[0]).glob("*.py"))
        paths.append(Path(study_prior.__file__))
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:12]


def _done(results: Path) -> dict[str, score.Run]:
    found = {}
    for line in results.read_text(encoding="utf-8").splitlines() if results.exists() else []:
        try:
            row = json.loads(line)
            found[str(row["key"])] = score.parsed(row)
        except (ValueError, KeyError, TypeError):
            continue  # cut off when the benchmark was killed
    return found


def _run(tasks: Mapping[str, methods.Task], results: Path, jobs: int) -> None:
    """Make the runs, each written down when it is done; Ctrl-C keeps those that are."""
    started = time.monotonic()
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # one core for each run
    afresh = multiprocessing.get_context("spawn")  # so that numpy sees it
    with results.open("a", encoding="utf-8") as file, ProcessPoolExecutor(jobs, afresh) as pool:
        try:
            for number, (key, run) in enumerate(
                zip(tasks, pool.map(methods.perform, tasks.values()), strict=True), 1
            ):
                row = {"key": key, **_plain(run)}
                file.write(json.dumps(row) + "\n")
                file.flush()
                if number % 50 == 0 or number == len(tasks):
                    rate = (time.monotonic() - started) / number
                    rest = rate * (len(tasks) - number) / 60
                    print(f"  {number}/{len(tasks)}, {rest:.0f} min left", flush=True)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True, wait=False)
            sys.exit(f"interrupted: the same command goes on from {results}")


def _plain(run: score.Run) -> dict[str, object]:
    """A run as a row: what is infinite is null."""
    return {
        name: None if isinstance(value, float) and math.isinf(value) else value
        for name, value in dataclasses.asdict(run).items()
    }


if __name__ == "__main__":
    main()
