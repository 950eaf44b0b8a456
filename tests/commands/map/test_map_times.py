"""Times for a map: what samples stand for, and visits entered into a store and read back."""

import math
from pathlib import Path

import fabricated as made
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.commands.map.map_times import (
    MapTimes,
    VisitJournal,
    failed_everywhere,
    log_time,
    recorded_times,
)
from autotune.domain.results import Measurement, Sample, Status
from autotune.files.store import RunRecord, Store, StudyOrigin
from autotune.tuning import Chosen

FIRST, SECOND = made.candidate("jli"), made.candidate("ijl")
PLACES = {FIRST.identity: (0, 3), SECOND.identity: (1, 3)}
ROUNDS = 10


def samples(*times: float, launch: int = 0, number: int = 0) -> list[Sample]:
    return [made.sample(time, busy=1.0, launch=launch, round=number) for time in times]


# --- what samples stand for -------------------------------------------------------------------


def test_samples_stand_for_the_logarithm_of_their_time() -> None:
    """One launch: as unsure as launches usually are, 3 %."""
    assert log_time(samples(2.0, 2.0)) == pytest.approx((math.log(2.0), 0.03))


def test_launches_that_agree_are_surer_than_one() -> None:
    """Four equal launches: sqrt(2 * 0.03^2 / (4 - 1 + 2) / 4)."""
    four = [sample for launch in range(4) for sample in samples(2.0, launch=launch)]
    assert log_time(four) == pytest.approx((math.log(2.0), math.sqrt(2 * 0.03**2 / 5 / 4)))


def test_launches_that_differ_are_less_sure() -> None:
    """Two launches e^0.1 either way: sqrt((2 * 0.1^2 + 2 * 0.03^2) / 3 / 2)."""
    far = samples(math.exp(0.1)) + samples(math.exp(-0.1), launch=1)
    found = log_time(far)
    assert found is not None
    assert found[1] == pytest.approx(math.sqrt((2 * 0.1**2 + 2 * 0.03**2) / 3 / 2))


def test_samples_that_warm_up_say_nothing() -> None:
    idle = [made.sample(9.0, warm_up=True)]
    assert log_time(idle) is None
    assert log_time([]) is None
    assert log_time([*idle, *samples(2.0)]) == log_time(samples(2.0))


def test_disturbed_samples_say_what_they_would_have_taken_and_how_unsure_that_is() -> None:
    """Two threads had their cores 3/4 of the time: 3/4 or 1/2 of the time without that."""
    conditions = {**made.sample().conditions, "threads": 2}
    lost = made.sample(8.0, busy=0.75, undisturbed=False, conditions=conditions)
    time, deviation = log_time([lost]) or (0.0, 0.0)
    assert math.exp(time) == pytest.approx(8.0 * math.sqrt(0.75 * 0.5))
    assert deviation == pytest.approx(math.hypot(0.03, math.log(0.75 / 0.5) / 2))


@given(st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=6), st.floats(1e-2, 1e2))
@settings(max_examples=25)
def test_another_unit_shifts_the_logarithm_and_nothing_else(
    times: list[float], factor: float
) -> None:
    whole = [s for launch, time in enumerate(times) for s in samples(time, launch=launch)]
    scaled = [s for launch, t in enumerate(times) for s in samples(factor * t, launch=launch)]
    before, after = log_time(whole), log_time(scaled)
    assert before is not None
    assert after is not None
    assert after[0] - before[0] == pytest.approx(math.log(factor), abs=1e-9)
    assert after[1] == pytest.approx(before[1], abs=1e-9)


@pytest.mark.parametrize(
    ("status", "timed", "everywhere"),
    [
        ("build-failed", False, True),
        ("wrong-result", False, True),
        ("wrong-result", True, False),
        ("crashed", False, False),
        ("timed-out", False, False),
    ],
)
def test_what_cannot_be_built_or_is_wrong_at_once_fails_at_any_size(
    status: Status, timed: bool, everywhere: bool
) -> None:
    taken = tuple(samples(1.0)) if timed else ()
    of = Measurement(candidate="a", run="r", status=status, samples=taken)
    assert failed_everywhere(of) is everywhere


# --- visits -----------------------------------------------------------------------------------


def visited(folder: Path, *visits: dict[str, tuple[Status, list[Sample]]]) -> list[RunRecord]:
    """The runs of a store after visits that measured candidates by their order."""
    candidates = {"jli": FIRST, "ijl": SECOND}
    with Store.open(folder / "store.sqlite") as store:
        store.begin_study("quick", StudyOrigin(config="quick", setup_text=""))
        store.add_candidates("quick", list(candidates.values()))
        run = store.begin_run("quick", made.facts())
        journal = VisitJournal(store, run, ROUNDS)
        for number, visit in enumerate(visits):
            journal.begin(number)
            chosen = [Chosen(candidates[o], made.prediction(), f"visit {number}") for o in visit]
            journal.chosen(chosen)
            for order, (status, taken) in visit.items():
                for sample in taken:
                    journal.sample(candidates[order], sample)
                identity = candidates[order].identity
                journal.outcome(Measurement(candidate=identity, run=run, status=status), None)
        store.end_run(run)
        return list(store.load_study("quick").runs)


def seen(times: MapTimes) -> list[tuple[int, int, float, int]]:
    """Contender, cell, seconds and visit of each observation."""
    return [(o.contender, o.cell, round(math.exp(o.time), 9), o.visit) for o in times.seen]


def test_each_visit_of_a_cell_is_an_observation(tmp_path: Path) -> None:
    runs = visited(
        tmp_path,
        {"jli": ("ok", samples(1.0, 1.0)), "ijl": ("ok", samples(3.0))},
        {"jli": ("ok", samples(2.0))},
    )
    times = recorded_times(runs, PLACES, ROUNDS)
    assert sorted(seen(times)) == [(0, 3, 1.0, 0), (0, 3, 2.0, 1), (1, 3, 3.0, 0)]
    assert times.visits == 2
    assert times.failed == {}


def test_launches_go_on_from_visit_to_visit(tmp_path: Path) -> None:
    visit = {"jli": ("ok", samples(1.0, launch=0) + samples(1.0, launch=1, number=4))}
    (run,) = visited(tmp_path, visit, visit)  # type: ignore[arg-type]
    measurement = run.measurement(FIRST.identity)
    assert measurement is not None
    assert [(s.launch, s.round) for s in measurement.samples] == [(0, 0), (1, 4), (2, 10), (3, 14)]


def test_a_candidate_is_chosen_once(tmp_path: Path) -> None:
    (run,) = visited(
        tmp_path,
        {"jli": ("ok", samples(1.0))},
        {"jli": ("ok", samples(1.0)), "ijl": ("ok", samples(1.0))},
    )
    reasons = {choice.candidate: choice.reason for choice in run.choices}
    assert reasons == {FIRST.identity: "visit 0", SECOND.identity: "visit 1"}
    assert len({choice.place for choice in run.choices}) == 2


def test_failures_are_kept_by_their_place(tmp_path: Path) -> None:
    runs = visited(tmp_path, {"jli": ("crashed", []), "ijl": ("build-failed", [])})
    times = recorded_times(runs, PLACES, ROUNDS)
    assert times.failed == {(0, 3): "crashed", (1, 3): "build-failed"}
    assert times.everywhere == {1}
    assert seen(times) == []


def test_what_printed_no_time_is_no_failure(tmp_path: Path) -> None:
    runs = visited(tmp_path, {"jli": ("contended", [made.sample(1.0, warm_up=True)])})
    times = recorded_times(runs, PLACES, ROUNDS)
    assert (times.failed, seen(times), times.visits) == ({}, [], 0)


def test_the_last_visit_has_the_last_word(tmp_path: Path) -> None:
    runs = visited(tmp_path, {"jli": ("ok", samples(1.0))}, {"jli": ("crashed", [])})
    times = recorded_times(runs, PLACES, ROUNDS)
    assert times.failed == {(0, 3): "crashed"}
    assert seen(times) == []


def test_candidates_that_are_not_of_the_map_are_passed_over(tmp_path: Path) -> None:
    runs = visited(tmp_path, {"jli": ("ok", samples(1.0)), "ijl": ("crashed", [])})
    times = recorded_times(runs, {FIRST.identity: (5, 1)}, ROUNDS)
    assert seen(times) == [(5, 1, 1.0, 0)]
    assert times.failed == {}
    assert recorded_times([], PLACES, ROUNDS).visits == 0
