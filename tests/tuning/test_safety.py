"""The tuner with a real store: a full disk, a lock that lasts, two tuners on one study."""

import contextlib
import os
import sqlite3
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import fabricated as fake
import pytest
from fake_host import Host, bench, candidate, first_of, ranking

from autotune.commands.tune.study_run import StoreJournal
from autotune.domain.ranking import Ranking
from autotune.domain.results import Prepared, Sample
from autotune.domain.setup import Measuring, Searching
from autotune.domain.variant import Candidate
from autotune.errors import StoreError
from autotune.files.store import Store, StudyOrigin
from autotune.tuning import EarlierResult, EndedSearch, Task, TuningPlan, tune_problems
from autotune.tuning.building import check_space
from autotune.tuning.study_search import study_search

TIMES = {number: 1.0 + number / 7 for number in range(8)}
RANKED = ranking([1.0 + number for number in range(8)])
Row = tuple[str, str, int, int, float]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with room for little more than a store."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        pytest.skip(f"optional: {error}")
    if done.returncode:
        pytest.skip(f"optional: a small file system cannot be mounted: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@dataclass(slots=True)
class Watched(StoreJournal):
    """Remembers what the store said it has."""

    kept: list[Row] = field(default_factory=list)

    def sample(self, candidate: Candidate, sample: Sample) -> None:
        StoreJournal.sample(self, candidate, sample)
        number = self.numbers[candidate.identity, sample.launch] - 1
        self.kept.append(
            (self.run, candidate.identity, sample.launch, number, float(sample.seconds))
        )


def begun(store: Store, ranked: Ranking = RANKED, name: str = "study") -> Watched:
    store.begin_study(name, StudyOrigin(config="c", setup_text=""))
    store.add_candidates(name, [entry.candidate for entry in ranked.entries])
    return Watched(store, store.begin_run(name, fake.facts()))


def known(store: Store, besides: str = "") -> tuple[EarlierResult, ...]:
    """What the runs of the study finished, but for one of them."""
    numbers = {candidate(number).identity: candidate(number) for number in TIMES}
    return tuple(
        EarlierResult(candidate=numbers[m.candidate], measurement=m)
        for run in store.load_study("study").runs
        if run.id != besides
        for m in run.measurements
        if m.candidate in run.finished
    )


def tuned(
    journal: Watched, host: Host, earlier: tuple[EarlierResult, ...] = (), **more
) -> EndedSearch:
    left = [
        n for n in (0, 1, 2) if candidate(n).identity not in {e.candidate.identity for e in earlier}
    ]
    task = Task(
        ranking=RANKED,
        first=first_of(RANKED, *({0, *left})),
        baseline=candidate(0).identity,
        earlier=earlier,
    )
    trials = study_search(
        [entry.candidate for entry in RANKED.entries],
        [entry.prediction for entry in RANKED.entries],
        settings=Searching(stop_below=0.0),
        first=[candidate(0).identity],
    )
    plan = TuningPlan(measuring=Measuring(rounds=3, samples=3))
    return tune_problems([task], trials, bench(host, journal), plan, **more)[0]


def rows(path: Path) -> list[Row]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        query = "select run, candidate, launch, number, seconds from samples"
        return [tuple(row) for row in connection.execute(query)]


def test_a_full_disk_loses_nothing_and_the_study_goes_on_when_there_is_room(
    small_disk: Path,
) -> None:
    path = small_disk / "results.sqlite"
    with Store.open(path) as store:
        journal = begun(store)
        free = os.statvfs(small_disk)
        (small_disk / "ballast").write_bytes(bytes(free.f_bavail * free.f_bsize - 60_000))
        with pytest.raises(StoreError, match="cannot grow") as error:
            tuned(journal, Host(TIMES))
        assert "--resume" in str(error.value)
    assert journal.kept, "it was full too early to tell"
    (small_disk / "ballast").unlink()
    assert set(journal.kept) <= set(rows(path))
    with Store.open(path) as store:
        again = begun(store)
        ended = tuned(again, Host(TIMES, seed=2), known(store, again.run))
        finished = {i for run in store.load_study("study").runs for i in run.finished}
    assert ended.why == "every candidate was measured"
    assert finished == {candidate(number).identity for number in TIMES}
    stored = rows(path)
    assert set(journal.kept) | set(again.kept) <= set(stored)
    assert max(Counter(row[:4] for row in stored).values()) == 1


def test_a_store_that_is_locked_for_a_while_is_waited_for(tmp_path: Path) -> None:
    """Another process holds it in the midst of the run, for less than the patience."""
    path = tmp_path / "results.sqlite"
    with Store.open(path, wait=30) as store:
        journal = begun(store)
        host = Host(TIMES)
        held = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        held.execute("BEGIN EXCLUSIVE")
        release = threading.Timer(0.3, held.execute, ["COMMIT"])
        release.start()
        tuned(journal, host)
        release.join()
        held.close()
    assert sorted(journal.kept) == sorted(rows(path))


def test_a_store_that_stays_locked_ends_the_run_with_a_reason_and_nothing_is_lost(
    tmp_path: Path,
) -> None:
    path = tmp_path / "results.sqlite"
    Store.open(path).close()
    held = sqlite3.connect(path, isolation_level=None)

    class Seizes(Host):
        def event(self) -> None:
            if self.events == 20:
                held.execute("BEGIN EXCLUSIVE")
            super().event()

    with Store.open(path, wait=0.2) as store:
        journal = begun(store)
        with pytest.raises(StoreError, match="another process has been writing"):
            tuned(journal, Seizes(TIMES))
        assert 0 < len(journal.kept) < 20
        held.execute("COMMIT")
        assert sorted(journal.kept) == sorted(rows(path))
        again = begun(store)
        ended = tuned(again, Host(TIMES, seed=2), known(store, again.run))
    held.close()
    assert ended.why == "every candidate was measured"


def test_a_second_tuner_on_a_study_takes_in_what_the_first_finishes(tmp_path: Path) -> None:
    """The first works inside a launch of the second: at any moment, as it were."""
    path = tmp_path / "results.sqlite"
    first = Store.open(path)
    one = begun(first)
    inside = False

    class Meanwhile(Host):
        def event(self) -> None:
            nonlocal inside
            super().event()
            if self.events == 30 and not inside:
                inside = True
                tuned(one, Host(TIMES))

    with Store.open(path) as second:
        two = begun(second)
        host = Meanwhile(TIMES, seed=2)
        ended = tuned(two, host, new_results=lambda: known(second, two.run))
    first.close()
    assert ended.why == "every candidate was measured"
    assert sorted([*one.kept, *two.kept]) == sorted(rows(path))
    searched = {number for number, _ in host.launched[12:]}
    assert searched <= {0, 1, 2, 3, 4}, "only what it had begun, and the finalists"


def test_four_tuners_on_one_study_lose_and_double_nothing(new_location: str) -> None:
    """They begin at once in a store that none of them finds there."""
    kept: Counter[Row] = Counter()
    failed: list[BaseException] = []
    start = threading.Barrier(4)

    def tune(seed: int) -> None:
        start.wait()
        try:
            with Store.open(new_location) as store:
                journal = begun(store)
                tuned(
                    journal, Host(TIMES, seed=seed), new_results=lambda: known(store, journal.run)
                )
                store.end_run(journal.run)
                kept.update(journal.kept)
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=tune, args=(seed,)) for seed in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    with Store.open(new_location, create=False) as store:
        runs = store.load_study("study").runs
    assert [run.state for run in runs] == ["done"] * 4
    stored = Counter(
        (run.id, m.candidate, s.launch, float(s.seconds))
        for run in runs
        for m in run.measurements
        for s in m.samples
    )
    assert stored == Counter((*row[:3], row[4]) for row in kept.elements())
    assert max(kept.values()) == 1
    finished = {identity for run in runs for identity in run.finished}
    assert finished == {candidate(number).identity for number in TIMES}


def test_of_tuners_that_begin_at_once_each_has_a_study_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    Store.open(path).close()
    names: list[str] = []

    def begin() -> None:
        with Store.open(path) as store:
            names.append(store.new_study("study", StudyOrigin(config="c", setup_text="text")))

    threads = [threading.Thread(target=begin) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(names) == ["study", *(f"study-{k}" for k in range(2, 7))]


def test_a_build_that_fails_for_want_of_room_is_not_the_candidates_fault() -> None:
    said = "x.s: fatal error: error writing to x.s: No space left on device"
    prepared = Prepared(candidate=candidate(0), status="build-failed", detail=said)
    with pytest.raises(OSError, match="No space left"):
        check_space(prepared)
    check_space(Prepared(candidate=candidate(0), status="crashed", detail=said))
