"""How many evaluations until the best of a recorded space: our search against its peers.

    python benchmarks/replay.py [FILE or FOLDER ...] [--seeds 100] [--methods model,random]
                                [--models cold,engine] [--jobs 2] [--peers FOLDER]
                                [--residual process,pool] [--prior none,sibling,reversed]
                                [--first-seed 108] [--seed-step 1] [--failing 0,0.3,0.8]
                                [--noise 0,1] [--slow-seeds 4] [--tables]

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
    kt-genetic, kt-basin-hopping, kt-greedy-ils, kt-hybrid-vndx, kt-tabu-greywolf, kt-bayes
                      Kernel Tuner's optimisers with their defaults in simulation mode
    pyatf             pyATF's default, the AUC bandit, its space built by constraints
    smac              SMAC3's facade for hyperparameters, drawing legal candidates alone
    hebo              HEBO over the Cartesian product, illegal ones told with the worst time so far

The last nine are left out unless --peers has a folder of virtual environments:

    for peer in kernel_tuner pyatf smac HEBO; do
        python -m venv peers/$peer && peers/$peer/bin/pip install $peer
    done

kt-bayes, smac and hebo are slow, and make runs of the first --slow-seeds seeds alone.

Our search may explain where its model is wrong by a process or by the pool of learned models
(--residual), and begin with a prior (--prior): the pool of another study of 60 evaluations, of the
space most like it (sibling), of its own times made wrong (distorted 0.2, distorted 0.4) or turned
round (reversed) or mixed up (shuffled). Each combination is a method of its own.

With --failing so large a share of the candidates fails, by regions. With --noise 1 each launch
takes as long as a sample drawn from those that the file holds of a candidate: our search launches
as in a study, a peer is told the mean of so many samples of each candidate, and what counts is the
recorded time of the candidate that a method calls the fastest. Beside evaluations is P, the score
against random search (`replay_performance`), up to the smaller budget, and how many evaluations a
model or a prior costs or saves against none, in runs of the same space and seed. Headlines leave
out the spaces and seeds on which settings were chosen (`replay_chosen_on.txt`); the default seeds
are others.

Every run is appended to --results when it is done, and left out when it is there already (those of
our search only as long as its code is the same), so that an interrupted benchmark goes on where it
was; --tables shows those that are done. Bounds are 95 %: Wilson's of shares, bootstrap of medians,
bootstrap over spaces in headlines.
"""

import argparse
import dataclasses
import functools
import hashlib
import itertools
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
import replay_tables as tables
from replay_noise import noisy
from replay_peers import PEERS

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
    paths = recorded_files([Path(text) for text in arguments.spaces] or [_RECORDED])
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
    if not arguments.tables:
        _run({states[task]: task for task in left}, results, arguments.jobs)
    done = _done(results)
    runs = [done[states[task]] for task in tasks if states[task] in done]
    chosen_on = score.ChosenOn.read(Path(arguments.chosen_on).read_text(encoding="utf-8"))
    blocks = [score.lines(runs, chosen_on), tables.peers(runs), tables.beside(runs)]
    blocks += [tables.lost(runs)]
    print("\n\n".join("\n".join(block) for block in [*blocks, tables.named(runs)] if block))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("spaces", nargs="*", help="recorded files, or folders of them")
    parser.add_argument("--seeds", type=int, default=100, help="how many")
    parser.add_argument("--first-seed", type=int, default=108)
    parser.add_argument("--seed-step", type=int, default=1, help="2: every other seed")
    parser.add_argument(
        "--failing", default="0", help="shares of failing candidates, such as 0,0.3,0.8"
    )
    parser.add_argument(
        "--noise", default="0", help="0, or launches of each candidate of a peer, such as 0,1,7"
    )
    parser.add_argument("--methods", default=",".join(methods.METHODS))
    parser.add_argument("--models", default=",".join(methods.MODELS))
    parser.add_argument("--residual", default="process", help="process, pool or both")
    parser.add_argument("--prior", default=priors.NONE, help=", ".join(priors.PRIORS))
    parser.add_argument("--budget", type=int, default=200, help="evaluations of a run")
    parser.add_argument("--peer-budget", type=int, default=120, help="of the peers")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--peers", default="peers", help="the folder of their environments")
    parser.add_argument("--slow-seeds", type=int, default=4, help="seeds of slow peers")
    parser.add_argument("--tables", action="store_true", help="of the runs that are done")
    parser.add_argument("--results", default="replay.jsonl", help="where runs are kept")
    parser.add_argument(
        "--chosen-on",
        default=str(_CHOSEN_ON),
        help="file of spaces and seeds that settings of the search were chosen on",
    )
    return parser.parse_args()


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def recorded_files(given: Sequence[Path]) -> list[Path]:
    """The files that are given, and those of folders."""
    return [
        path
        for each in given
        for path in (sorted(p for p in each.iterdir() if p.is_file()) if each.is_dir() else [each])
    ]


def _wanted(arguments: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Methods and models, peers left out with a word where they are absent."""
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
    folder = Path(arguments.peers)
    absent = [
        name for name in named if name in PEERS and not replay_peers.present(folder, PEERS[name])
    ]
    if absent:
        print(f"left out, not in {folder} (--help says how to install them): {', '.join(absent)}")
    return [name for name in named if name not in absent], models


def _tasks(
    paths: Sequence[Path], wanted: tuple[list[str], list[str]], arguments: argparse.Namespace
) -> Iterator[methods.Task]:
    """All runs: seed by seed, so that an interrupted benchmark has all cells."""
    spaces = [(path, read(path)) for path in paths]
    for number in range(arguments.seeds):
        seed = arguments.first_seed + number * arguments.seed_step
        for (path, space), method, model in itertools.product(spaces, *wanted):
            slow = method in PEERS and PEERS[method].slow
            if _sensible(space, method, model) and (not slow or number < arguments.slow_seeds):
                peer = method in PEERS or method == "tpe"
                task = methods.Task(
                    path=str(path),
                    space=space.name,
                    method=method,
                    model=model,
                    seed=seed,
                    budget=arguments.peer_budget if peer else arguments.budget,
                    horizon=min(arguments.budget, arguments.peer_budget),
                    peers=arguments.peers,
                )
                yield from _settings(task, space, spaces, arguments)


def _sensible(space: RecordedSpace, method: str, model: str) -> bool:
    """Whether the space has predictions where they are wanted, and the method uses the model."""
    if model == "engine" and math.isnan(space.predicted.min()):
        return False
    if method == "order":
        return model != score.COLD
    return method == score.OURS or model == score.COLD


def _settings(
    task: methods.Task,
    space: RecordedSpace,
    spaces: Sequence[tuple[Path, RecordedSpace]],
    arguments: argparse.Namespace,
) -> Iterator[methods.Task]:
    """A task with all shares of failing candidates and kinds of noise, that its file allows."""
    for share, launches in itertools.product(_listed(arguments.failing), _listed(arguments.noise)):
        if launches == "0" or noisy(space):
            setting = dataclasses.replace(task, failing=float(share), noise=int(launches))
            yield from _variants(setting, spaces, arguments)


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
    parts = [task.space, content, task.label, task.setting, task.seed, task.budget]
    parts += [task.horizon, state]
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
