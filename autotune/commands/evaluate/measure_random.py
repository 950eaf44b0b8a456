"""Measuring candidates of a study at random, so that models can be scored on them."""

import random
import time
from collections.abc import Collection, Mapping, Sequence
from functools import partial

from autotune.commands.learn.study_tables import RANDOM
from autotune.commands.rank.ranked_space import RankedSpace, rank_space
from autotune.commands.tune.preflight import check_launchers, check_objectives, conditions_of
from autotune.commands.tune.study_run import StudyRun
from autotune.domain.ranking import Ranking
from autotune.errors import Fault, InputError
from autotune.files.store import Store
from autotune.files.store.records import StudyRecord
from autotune.progress import Progress
from autotune.tuning import Chosen
from autotune.workloads.base import Workload


def measure_random(
    workload: Workload, study: str, store: str, count: int, progress: Progress, seed: int = 0
) -> tuple[str, int]:
    """Draw and measure candidates at random until ``count`` of the study have a time.

    Returns the name of the study and how many candidates were measured. An empty name means the
    latest study of the config. Candidates that the tuner chose may be drawn too, so that fast ones
    are not missing. Each problem gets the same number of candidates as far as it has them; a
    candidate that fails is replaced. Candidates that an interruption left unmeasured come first in
    the next call with the same seed. InputError if the study is of another config.
    """
    setup = workload.setup
    started = time.monotonic()
    with Store.open(store, create=False) as results:
        name = study or results.latest_study(setup.name)
        if name is None:
            raise InputError(
                Fault(where=results.shown, found=f"no study of {setup.name}", hint="tune first")
            )
        record = results.load_study(name)
        if record.config != setup.name:
            found = f"a study of {record.config}, not of {setup.name}"
            raise InputError(Fault(where=f"study {name}", found=found, expected="its own config"))
        if len(timed(record)) >= count:
            return name, 0
        workload.check()
        check_launchers(setup)
        check_objectives(setup)
        ahead = rank_space(workload, progress)
        study_run = StudyRun(
            results=results,
            study=name,
            ranked=ahead,
            measurer=workload.measurer(ahead.machine),
            conditions=conditions_of(ahead, progress),
            deadline=float("inf"),
            started=started,
        )
        return name, measure_lacking(study_run, ahead, count, progress, seed)


def measure_lacking(
    run: StudyRun, ahead: RankedSpace, count: int, progress: Progress, seed: int = 0
) -> int:
    """Run a study until ``count`` random candidates have a time, or no candidate is left."""
    measured = 0
    while True:
        record = run.results.load_study(run.study)
        have, done = timed(record), finished(record)
        picks = _picks(ahead.rankings, have, done, count, seed)
        if not any(picks.values()):
            return measured
        run.run(partial(_of, picks), progress)
        after = run.results.load_study(run.study)
        measured += len(timed(after) - have)
        if not finished(after) - done:
            return measured  # nothing comes to an end here


def _picks(
    rankings: Sequence[Ranking],
    have: Collection[str],
    done: Collection[str],
    wanted: int,
    seed: int,
) -> dict[str, list[Chosen]]:
    """The candidates to measure next, for each label of a problem."""
    undrawn = {r.problem.label: draw(r, done, seed) for r in rankings}
    before = {
        r.problem.label: sum(entry.candidate.identity in have for entry in r.entries)
        for r in rankings
    }
    counts = {label: len(some) for label, some in undrawn.items()}
    shares = allotted(before, counts, wanted - len(have))
    return {label: undrawn[label][:count] for label, count in shares.items()}


def _of(picks: Mapping[str, list[Chosen]], ranking: Ranking) -> list[Chosen]:
    return picks[ranking.problem.label]


def timed(record: StudyRecord) -> set[str]:
    """The candidates that were drawn at random, in any run, and have a time."""
    ok = {
        m.candidate
        for run in record.runs
        for m in run.measurements
        if m.status == "ok" and m.candidate in run.finished
    }
    return _drawn(record) & ok


def finished(record: StudyRecord) -> set[str]:
    """The candidates that were drawn at random and have a result, a time or a failure."""
    return _drawn(record) & {identity for run in record.runs for identity in run.finished}


def _drawn(record: StudyRecord) -> set[str]:
    return {c.candidate for run in record.runs for c in run.choices if RANDOM in c.reason}


def draw(ranking: Ranking, done: Collection[str], seed: int = 0) -> list[Chosen]:
    """The candidates of a problem in a random order, without those ``done``.

    The order depends only on the seed and the set of candidates. So a prefix of it is a random
    draw, and an interrupted draw can be continued.
    """
    entries = {entry.candidate.identity: entry for entry in ranking.entries if entry.drawn}
    order = sorted(entries)
    random.Random(f"{seed} {ranking.problem.label} evaluate").shuffle(order)
    why = f"{RANDOM} from {len(order)}, to score models on"
    return [Chosen.of(entries[i], why) for i in order if i not in done]


def allotted(have: Mapping[str, int], undrawn: Mapping[str, int], lacking: int) -> dict[str, int]:
    """How many more candidates to draw from each problem, so that their totals become equal.

    A problem gets no more than it has undrawn candidates.

    >>> allotted({"a": 0, "b": 4}, {"a": 9, "b": 9}, 6)
    {'a': 5, 'b': 1}
    >>> allotted({"a": 0, "b": 0}, {"a": 1, "b": 9}, 6)
    {'a': 1, 'b': 5}
    """
    more = dict.fromkeys(have, 0)
    for _ in range(max(0, lacking)):
        some = [name for name in more if more[name] < undrawn[name]]
        if not some:
            break
        more[min(some, key=lambda name: have[name] + more[name])] += 1
    return more
