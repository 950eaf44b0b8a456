"""Recording all candidates of a space of this host: few rounds of all, many of the best.

A recording is one study of a store. Each session is a run of the study: it builds what is not built
yet, then launches what lacks rounds, until all have enough or its seconds are over. The times of
all sessions enter one fit of levels of candidates and of rounds, so that drift between rounds and
sessions does not matter.
"""

import math
import statistics
import time
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from host_spaces import HostSpace

from autotune.commands.rank.ranked_space import RankedSpace, rank_space
from autotune.commands.tune.preflight import conditions_of
from autotune.commands.tune.provenance import study_origin
from autotune.commands.tune.study_run import StudyRun
from autotune.domain.results import Prepared, Status
from autotune.domain.variant import Candidate
from autotune.files.store import Store, StudyRecord
from autotune.files.store.records import StoredBuild
from autotune.progress import Progress
from autotune.statistics.drift import DriftFreeTimes, levels
from autotune.statistics.estimators import noise_floor
from autotune.statistics.launch_times import LaunchTime, by_round, interval
from autotune.tuning import Bench, TuningPlan
from autotune.tuning.building import prepare
from autotune.tuning.first_candidates import everything
from autotune.tuning.rounds import MeasuredGroup, shown

PURPOSE = "record"
"""Condition ``purpose`` of the runs of a recording."""
ROUNDS = 2
"""Of all candidates."""
BEST = 50
"""So many of the fastest are launched again."""
BEST_ROUNDS = 21
"""Of the fastest at least, with those of all."""
MOST_ROUNDS = 60
"""Of the fastest, where they scatter."""
GOAL_WIDTH = 0.02
"""Median half-width of the 95 % intervals of the fastest, relative to their times."""

Rounds = Mapping[str, Mapping[Hashable, LaunchTime]]
"""Candidate to session and round to the time of its launch there."""


def record(
    space: HostSpace, folder: Path, seconds: float, progress: Progress, *, launch: bool = True
) -> bool:
    """One session of a recording; whether all is recorded.

    ``seconds``: no launch starts later. Without ``launch`` candidates are only built and verified,
    which takes no notice of the limit.
    """
    started = time.monotonic()
    workload = space.workload(folder)
    ranked = rank_space(workload, progress)
    with Store.open(space.store(folder)) as results:
        name = results.latest_study(space.study)
        run = StudyRun(
            results=results,
            study=name or results.new_study(space.study, study_origin(workload)),
            ranked=ranked,
            measurer=workload.measurer(ranked.machine),
            conditions=conditions_of(ranked, progress),
            deadline=time.monotonic() + seconds,
            started=started,
        )
        if name is None:
            run.run(lambda _: [], progress)  # enters the study, measures nothing
        before = results.load_study(run.study)
        with run.measuring(progress, PURPOSE) as (bench, plan, states):
            bench.journal.chosen(everything(ranked.rankings[0]))
            session = Session(ranked, before, bench, plan)
            session.build()
            if launch:
                session.launch(run.deadline)
            states.append("done")
    return launch and session.complete()


class Session:
    """One session: the candidates with what was measured of them before and now."""

    def __init__(
        self, ranked: RankedSpace, before: StudyRecord, bench: Bench, plan: TuningPlan
    ) -> None:
        self.bench = bench
        self.before = rounds_of(before)
        self.group = MeasuredGroup(bench=bench, plan=plan)
        self._built = _built(before)
        self._failed = failures(before)
        self._entries = {e.candidate.identity: e for e in ranked.rankings[0].entries}

    def build(self) -> None:
        """Build and verify the candidates that no session has built."""
        candidates = [entry.candidate for entry in self._entries.values()]
        new = [c for c in candidates if c.identity not in self._built]
        before = [
            _prepared(c, self._built[c.identity]) for c in candidates if c.identity in self._built
        ]
        for prepared in (*before, *prepare(new, self.bench, math.inf)):
            identity = prepared.candidate.identity
            self.group.enter(prepared, self._entries[identity].prediction.seconds)
        self.group.failed |= {i: (status, "") for i, status in self._failed.items()}

    def launch(self, deadline: float) -> None:
        """Launch what lacks rounds until the deadline: all candidates, then the fastest."""
        while time.monotonic() < deadline:
            lacking = self._lacking()
            if not lacking:
                break
            least = min(self._count(i) for i in lacking)
            what = f"{'all' if least < ROUNDS else f'best {BEST}'}, round {least + 1}"
            show = shown(self.bench.progress, what, 0, len(lacking))
            self.group.round(lacking, None, show, deadline)
        for identity in self.group.prepared:
            if identity in self.group.launches or identity in self.group.failed:
                self.group.settle(identity)
        self.group.recount()

    def complete(self) -> bool:
        """Whether nothing lacks rounds."""
        return not self._lacking()

    def _lacking(self) -> list[str]:
        """What is to be launched next: all candidates, then the fastest, as their times scatter."""
        short = self._short(list(self.group.prepared), ROUNDS)
        if short:
            return short
        best = self._best()
        return self._short(best, BEST_ROUNDS) or self._short(best, self._enough(best))

    def _enough(self, best: list[str]) -> int:
        """The rounds after which the intervals of the fastest are expected to be narrow enough."""
        table = self._rounds()
        fit = levels(table)
        width = statistics.median(half_width(_steady(table[i], fit)) for i in best)
        count = statistics.median(len(table[i]) for i in best)
        return rounds_for(width, int(count))

    def _best(self) -> list[str]:
        """The fastest by the rounds that all candidates have."""
        alike = {i: dict(list(times.items())[:ROUNDS]) for i, times in self._rounds().items()}
        return fastest(levels(alike).times, BEST)

    def _rounds(self) -> dict[str, dict[Hashable, LaunchTime]]:
        now: dict[str, dict[Hashable, LaunchTime]] = {
            i: {("now", r): t for r, t in self.group.times(i).items()} for i in self.group.prepared
        }
        able = [i for i in now if i not in self.group.failed]
        together = {i: self.before.get(i, {}) | now[i] for i in able}
        return {i: times for i, times in together.items() if times}

    def _count(self, identity: str) -> int:
        return len(self.before.get(identity, {})) + len(self.group.times(identity))

    def _short(self, identities: list[str], wanted: int) -> list[str]:
        able = [i for i in identities if i not in self.group.failed]
        return [i for i in able if self._count(i) < wanted]


def _built(record: StudyRecord) -> dict[str, StoredBuild]:
    """How the builds of all sessions ended, by identity of the candidate."""
    return {build.candidate: build for run in record.runs for build in run.builds}


def _prepared(candidate: Candidate, stored: StoredBuild) -> Prepared:
    return Prepared(
        candidate=candidate,
        status=stored.status,
        detail=stored.detail,
        error=stored.error,
        build=stored.build,
        provenance=stored.provenance,
    )


def failures(record: StudyRecord) -> dict[str, Status]:
    """The candidates that failed in a session, with their status."""
    return {
        m.candidate: m.status
        for run in record.runs
        for m in run.measurements
        if m.candidate in run.finished and m.status not in ("ok", "contended")
    }


def rounds_of(record: StudyRecord) -> dict[str, dict[Hashable, LaunchTime]]:
    """The launches of all sessions; failed candidates have none."""
    failed = failures(record)
    table: dict[str, dict[Hashable, LaunchTime]] = {}
    for run in record.runs:
        for m in run.measurements:
            if m.timed and m.candidate not in failed:
                times = by_round(m.samples).items()
                table.setdefault(m.candidate, {}).update({(run.id, r): t for r, t in times})
    return table


def rounds_for(width: float, rounds: int) -> int:
    """The rounds for intervals of the width that is aimed at, where so many gave a width.

    >>> rounds_for(0.03, 20), rounds_for(0.01, 20), rounds_for(0.3, 20)
    (45, 21, 60)
    """
    wanted = math.ceil(round(rounds * (width / GOAL_WIDTH) ** 2, 6))
    return min(MOST_ROUNDS, max(BEST_ROUNDS, wanted))


def fastest(times: Mapping[str, float], count: int) -> list[str]:
    """So many candidates with the smallest times.

    >>> fastest({"a": 3.0, "b": 1.0, "c": 2.0}, 2)
    ['b', 'c']
    """
    return sorted(times, key=lambda i: (times[i], i))[:count]


# --- what was recorded ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What the sessions of a recording say together."""

    seconds: Mapping[str, float]
    """Candidate to its time."""
    failed: Mapping[str, Status]
    halves: Mapping[str, tuple[float | None, float | None]]
    """Candidate to its times in the earlier and the later half of its rounds."""
    least: int
    """Launches of a candidate, at least."""
    rounds: int
    """Launches of one of the best ones, the median."""
    width: float
    """Median half-width of the 95 % interval of the time of the best ones, relative to it."""
    floor: float
    """Loss of choosing in one half of the rounds of the best ones and scoring in the other."""
    spread: float
    """Median standard deviation of the logarithm of a launch of the best ones."""
    build_s: float
    """Wall seconds of all builds and verifications."""
    launch_s: float
    """Wall seconds of all launches."""

    @property
    def best(self) -> float:
        """The smallest time."""
        return min(self.seconds.values())

    def loss(self, identity: str) -> float:
        """By how much a candidate is slower than the best; infinite for one that failed."""
        return self.seconds.get(identity, math.inf) / self.best - 1


def recording(record: StudyRecord) -> Recording:
    """The recording of a study."""
    table = rounds_of(record)
    fit = levels(table)
    steady = {name: _steady(times, fit) for name, times in table.items()}
    most = max(map(len, steady.values()))
    best = [n for n in fastest(fit.times, BEST) if 2 * len(steady[n]) >= most]
    numbers = {key: k for k, key in enumerate(sorted({k for n in best for k in table[n]}, key=str))}
    floor = noise_floor({n: {numbers[k]: t for k, t in table[n].items()} for n in best})
    return Recording(
        seconds=fit.times,
        failed=failures(record),
        halves={name: _halves(times) for name, times in steady.items()},
        least=min(map(len, steady.values())),
        rounds=int(statistics.median(len(steady[n]) for n in best)),
        width=statistics.median(half_width(steady[n]) for n in best),
        floor=floor.mean if floor else math.nan,
        spread=statistics.median(_spread(steady[n]) for n in best),
        build_s=sum(run.timings.get("build", 0.0) for run in record.runs),
        launch_s=sum(run.timings.get("run", 0.0) for run in record.runs),
    )


def _steady(times: Mapping[Hashable, LaunchTime], fit: DriftFreeTimes) -> list[LaunchTime]:
    """Launches without the drift of the machine, in the order in which they were made."""
    return [
        replace(launch, seconds=launch.seconds * math.exp(-fit.drift[key]))
        for key, launch in times.items()
    ]


def half_width(launches: list[LaunchTime]) -> float:
    """Half the 95 % interval of the logarithm of a time; infinite for fewer than three launches.

    >>> launches = [LaunchTime(1.0), LaunchTime(1.02), LaunchTime(0.98), LaunchTime(1.0)]
    >>> round(half_width(launches), 3)
    0.026
    """
    bounds = interval(launches, 0.95)
    return math.log(bounds[1] / bounds[0]) / 2 if bounds else math.inf


def _halves(launches: list[LaunchTime]) -> tuple[float | None, float | None]:
    half = len(launches) // 2
    early, late = launches[:half], launches[-half:] if half else []
    return _mean(early), _mean(late)


def _mean(launches: list[LaunchTime]) -> float | None:
    if not launches:
        return None
    return math.exp(statistics.fmean(math.log(launch.seconds) for launch in launches))


def _spread(launches: list[LaunchTime]) -> float:
    logs = [math.log(launch.seconds) for launch in launches]
    return statistics.stdev(logs) if len(logs) > 1 else math.nan


def taken(record: StudyRecord) -> str:
    """When the recording began, as a date."""
    return datetime.fromisoformat(min(run.started for run in record.runs)).date().isoformat()


def printed(stage: str, done: int, total: int, detail: str = "") -> None:
    """Show progress on one line of the terminal."""
    end = "\n" if done == total else ""
    print(f"\r{stage} {done}/{total} {detail[:50]:50}", end=end, flush=True)
