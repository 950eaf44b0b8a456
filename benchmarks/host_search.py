"""How near does the tuner come on this host, with its real predictions, to measuring everything?

    python benchmarks/host_search.py build  [--folder host-spaces] [--only TEXT]
    python benchmarks/host_search.py record [--seconds 280]
    python benchmarks/host_search.py pack   [-o benchmarks/recorded]
    python benchmarks/host_search.py score  [--budget 10] [--seeds 24] [--first-seed 105]
    python benchmarks/host_search.py cost   [--budget 10]
    python benchmarks/host_search.py tune-siblings [--evaluations 30]
    python benchmarks/host_search.py priors [--seeds 8]

Five spaces (`host_spaces.py`) of 160 to 400 candidates: two IVPs and two stencils, in cache and in
memory, with one thread and with all, and the options of zstd. `build` builds and verifies their
candidates. `record` launches all of them in two interleaved rounds and the best 50 in 21, or in up
to 60 where their times scatter, until --seconds are over for a space; the same command goes on
where it ended, so that a recording can be interrupted. `pack` writes what was recorded as spaces
for `replay.py`, with the precision reached:

    width    half of the 95 % interval of the time of one of the best 50, relative to it; the median
    floor    noise floor: chosen in one half of the rounds of the best 50, scored in the other
    spread   standard deviation of the logarithm of one launch

`score` searches each recorded space in the loop of `autotune tune` with the predictions that the
engine makes now, without any (cold), by their order alone, and at random. A run counts as one
evaluation, the baseline too, which `tune` measures first (not in order and random):

    loss     of the best of --budget evaluations over the recorded best: median, 90th percentile
    within   share of the seeds whose loss is at most 1 %
    to 1 %   evaluations until the loss is at most 1 %, median; inf: more than --budget

`cost` really tunes a space with an empty store and an empty cache of builds, and prints its wall
time as a share of that of the recording, builds and launches, and the recorded loss of its choice.

`tune-siblings` really tunes the same problems at another size, and with another number of threads;
`priors` takes each of these studies as `tune --prior` does, and prints how often the first
evaluation, without the baseline, has 90 % of the speed of the best, beside the same without it.
"""

import argparse
import contextlib
import math
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import host_pack
from host_judge import COLD, ENGINE, MODELS, ORDER, RecordedHost, evaluations_to, reaches
from host_record import GOAL_WIDTH, printed, record, recording
from host_spaces import SPACES, HostSpace

from autotune.commands.tune import flow
from autotune.errors import AutotuneError
from autotune.files.store import Store, StudyRecord
from autotune.progress import silent

GOAL_LOSS, GOAL_SPEED = 0.01, 0.9
_ENDED = ("done", "budget")
"""States of a run that was not interrupted."""


def main() -> None:
    """Do one task for all spaces that are asked for."""
    arguments = _arguments()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    spaces = [space for name, space in SPACES.items() if arguments.only in name]
    try:
        TASKS[arguments.task](spaces, arguments)
    except AutotuneError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("interrupted: the same command goes on")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("task", choices=tuple(TASKS))
    parser.add_argument(
        "--folder", type=Path, default=Path("host-spaces"), help="configs and results"
    )
    parser.add_argument("--only", default="", help="spaces whose name contains this text")
    parser.add_argument("--seconds", type=float, default=math.inf, help="of launches, a space")
    parser.add_argument("-o", "--output", type=Path, default=Path(__file__).with_name("recorded"))
    parser.add_argument("--budget", type=int, default=10, help="evaluations that are scored")
    parser.add_argument("--evaluations", type=int, default=30, help="of a sibling")
    parser.add_argument("--seeds", type=int, default=24)
    parser.add_argument("--first-seed", type=int, default=105)
    return parser.parse_args()


# --- recording --------------------------------------------------------------------------------


def _build(spaces: Sequence[HostSpace], arguments: argparse.Namespace) -> None:
    for space in spaces:
        record(space, arguments.folder, math.inf, printed, launch=False)


def _record(spaces: Sequence[HostSpace], arguments: argparse.Namespace) -> None:
    for space in spaces:
        done = record(space, arguments.folder, arguments.seconds, printed)
        print(f"{space.name}: {'recorded' if done else 'not complete: the same command goes on'}")
        _facts(space, arguments.folder)


def _study(space: HostSpace, folder: Path) -> StudyRecord | None:
    with Store.open(space.store(folder)) as results:
        name = results.latest_study(space.study)
        return results.load_study(name) if name else None


def _facts(space: HostSpace, folder: Path) -> None:
    study = _study(space, folder)
    if study is None:
        return
    made = recording(study)
    print(
        f"{space.name}: {len(made.seconds)} candidates, {len(made.failed)} failed, best"
        f" {made.best:.4g} s, within 1 % {sum(made.loss(i) <= GOAL_LOSS for i in made.seconds)};"
        f" best ones: {made.rounds} rounds, width {made.width:.2%} (goal {GOAL_WIDTH:.0%}),"
        f" floor {made.floor:.2%}, spread {made.spread:.2%};"
        f" builds {made.build_s:.0f} s, launches {made.launch_s:.0f} s"
    )


def _pack(spaces: Sequence[HostSpace], arguments: argparse.Namespace) -> None:
    for space in spaces:
        study = _study(space, arguments.folder)
        if study is not None:
            path = arguments.output / f"{space.name}.json.gz"
            print(f"{path}: {host_pack.pack(study, path)} bytes")
            _facts(space, arguments.folder)


# --- searching what was recorded --------------------------------------------------------------


def _score(spaces: Sequence[HostSpace], arguments: argparse.Namespace) -> None:
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    budget = arguments.budget
    print(f"{'space':14} {'model':7} {'loss':>6} {'90th':>7} {'within':>6} {'to 1 %':>7}")
    for space in spaces:
        host = RecordedHost.read(space, arguments.folder)
        for model in MODELS if host else ():
            assert host is not None
            if model in (ENGINE, ORDER) and not host.predicted:
                continue
            drawn = seeds[:1] if model == ORDER else seeds
            runs = [host.losses(host.evaluated(model, seed, budget)) for seed in drawn]
            ordered = sorted(run[-1] for run in runs)
            hits = [evaluations_to(run, GOAL_LOSS) for run in runs]
            print(
                f"{space.name:14} {model:7} {statistics.median(ordered):6.1%}"
                f" {ordered[int(0.9 * (len(ordered) - 1))]:7.1%}"
                f" {sum(loss <= GOAL_LOSS for loss in ordered) / len(ordered):6.0%}"
                f" {statistics.median(hits):7g}",
                flush=True,
            )


def _cost(spaces: Sequence[HostSpace], arguments: argparse.Namespace) -> None:
    for space in spaces:
        study = _study(space, arguments.folder)
        if study is None:
            continue
        made = recording(study)
        with _empty_cache() as empty:
            tuned = _tuned(space, arguments.folder, arguments.budget, f"{empty}/tuned.sqlite")
        stages = tuned.record.runs[-1].timings
        wall, all_of_it = stages["wall"], made.build_s + made.launch_s
        best = tuned.evaluation.problems[0].best
        chosen = made.loss(best.candidate.identity) if best else math.nan
        parts = ", ".join(f"{name} {seconds:.1f}" for name, seconds in stages.items())
        print(
            f"{space.name}: {wall:.1f} s ({parts}), {wall / all_of_it:.1%} of {all_of_it:.0f} s"
            f" (builds {made.build_s:.0f}, launches {made.launch_s:.0f}); chosen: loss {chosen:.1%}"
        )


@contextlib.contextmanager
def _empty_cache() -> Iterator[str]:
    """A new folder, which is the cache of builds meanwhile."""
    before = os.environ.get("AUTOTUNE_CACHE")
    with tempfile.TemporaryDirectory() as empty:
        os.environ["AUTOTUNE_CACHE"] = empty
        try:
            yield empty
        finally:
            del os.environ["AUTOTUNE_CACHE"]
            if before is not None:
                os.environ["AUTOTUNE_CACHE"] = before


def _tuned(space: HostSpace, folder: Path, budget: int, store: str) -> flow.TunedStudy:
    options = flow.StudyOptions(budget_evaluations=budget)
    return flow.tune(space.workload(folder), options, store, silent)


# --- priors -----------------------------------------------------------------------------------


def _siblings_store(folder: Path) -> str:
    return str(folder / "siblings.sqlite")


def _tune_siblings(spaces: Sequence[HostSpace], arguments: argparse.Namespace) -> None:
    store = _siblings_store(arguments.folder)
    for space in spaces:
        for difference in space.siblings:
            sibling = space.sibling(difference)
            if _finished(sibling, store) is None:
                tuned = _tuned(sibling, arguments.folder, arguments.evaluations, store)
                print(f"{sibling.name}: {tuned.record.runs[-1].timings['wall']:.0f} s", flush=True)


def _finished(sibling: HostSpace, store: str) -> str | None:
    """The latest study of a sibling that was not interrupted."""
    with Store.open(store) as results:
        names = [s.name for s in results.studies() if s.config == sibling.study]
        studies = [results.load_study(name) for name in names]
    ended = [s.name for s in studies if any(run.state in _ENDED for run in s.runs)]
    return ended[-1] if ended else None


def _priors(spaces: Sequence[HostSpace], arguments: argparse.Namespace) -> None:
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    store = _siblings_store(arguments.folder)
    print(
        f"{'space':14} {'model':7} {'sibling':8} {'its first':>9} {'first':>6} {'two':>5}"
        " loss of 10"
    )
    for space in spaces:
        host = RecordedHost.read(space, arguments.folder)
        if host is None:
            continue
        for model in (ENGINE, COLD) if host.predicted else (COLD,):
            _prior_line(host, model, "none", lambda _: {}, seeds)
            for difference in space.siblings:
                study = _finished(space.sibling(difference), store)
                if study is not None:
                    prior = partial(host.prior, study, store)
                    _prior_line(host, model, difference, prior, seeds)


def _prior_line(
    host: RecordedHost,
    model: str,
    difference: str,
    prior_of: Callable[[int], Mapping[str, float]],
    seeds: Sequence[int],
) -> None:
    top, first, second, ten = [], [], [], []
    for seed in seeds:
        prior = prior_of(seed)
        run = host.losses(host.evaluated(model, seed, 10, prior), safe=False)
        first.append(run[0])
        second.append(run[1])
        ten.append(run[-1])
        if prior:
            top.append(host.recording.loss(min(prior, key=lambda i: (prior[i], i))))

    def share(losses: Sequence[float]) -> str:
        near = sum(reaches(loss, GOAL_SPEED) for loss in losses)
        return f"{near / len(losses):.0%}" if losses else "-"

    print(
        f"{host.space.name:14} {model:7} {difference:8} {share(top):>9} {share(first):>6}"
        f" {share(second):>5} {statistics.median(ten):.1%}",
        flush=True,
    )


TASKS: Mapping[str, Callable[[Sequence[HostSpace], argparse.Namespace], None]] = {
    "build": _build,
    "record": _record,
    "pack": _pack,
    "score": _score,
    "cost": _cost,
    "tune-siblings": _tune_siblings,
    "priors": _priors,
}


if __name__ == "__main__":
    main()
