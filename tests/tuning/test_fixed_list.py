"""The chosen candidates, all measured alike: rounds, repeats of what was disturbed, order."""

import time

import pytest
from fake_host import Host, Notebook, candidate, prediction

from autotune.domain.results import Measurement
from autotune.domain.setup import Measuring
from autotune.statistics.launch_times import time_of
from autotune.tuning.base import Bench, Chosen, TuningPlan
from autotune.tuning.fixed_list import tune_problem


def tuned(
    host: Host, *numbers: int, rounds: int = 3, deadline: float = float("inf")
) -> tuple[list[Measurement], Notebook, list[str]]:
    """The measurements, the journal, and the stages that were shown."""
    journal, stages = Notebook(), []

    def progress(stage: str, done: int, total: int, detail: str = "") -> None:
        stages.append(f"{stage}: {done} of {total}")

    measuring = Measuring(rounds=rounds, samples=host.samples)
    measurements = tune_problem(
        [Chosen(candidate(n), prediction(0.5 + n), "predicted") for n in numbers],
        Bench(measurer=host, journal=journal, progress=progress),
        TuningPlan(measuring=measuring, deadline=deadline),
    )
    return measurements, journal, stages


def test_every_candidate_is_launched_in_every_round_and_none_is_dropped() -> None:
    host = Host({0: 1.0, 1: 9.0, 2: 3.0})
    tuned(host, 0, 1, 2)
    assert sorted(host.launched) == [(n, r) for n in range(3) for r in range(3)]


def test_measurements_come_in_the_order_of_the_choice() -> None:
    measurements, journal, _ = tuned(Host({0: 1.0, 1: 9.0, 2: 3.0}), 2, 0, 1)
    assert [m.candidate for m in measurements] == [candidate(n).identity for n in (2, 0, 1)]
    assert {m.status for m in measurements} == {"ok"}
    assert set(journal.outcomes) == {m.candidate for m in measurements}


def test_what_printed_no_time_is_launched_again_twice_at_most() -> None:
    host = Host({0: 1.0, 1: 1.0}, starved=lambda launch: launch == 0)
    measurements, _, stages = tuned(host, 0, 1)
    starved = host.launched[0][0]
    assert host.count(starved) == 4
    assert host.count(1 - starved) == 3
    assert {m.status for m in measurements} == {"ok"}
    assert any("what was disturbed, attempt 1 of 2" in stage for stage in stages)
    lasting = Host({0: 1.0}, starved=lambda _: True)
    measurements, journal, _ = tuned(lasting, 0)
    assert lasting.count(0) == 3 + 2
    assert measurements[0].status == "contended"
    assert journal.outcomes[candidate(0).identity].status == "contended"


def test_what_was_disturbed_is_not_launched_again() -> None:
    host = Host({0: 1.0, 1: 1.0}, disturbed=lambda launch: launch % 2 == 0)
    measurements, journal, _ = tuned(host, 0, 1)
    assert [host.count(n) for n in (0, 1)] == [3, 3]
    assert {outcome.status for outcome in journal.outcomes.values()} == {"ok"}
    assert [time_of(m.samples) for m in measurements] == pytest.approx([1.0, 1.0], rel=0.05)


def test_failures_are_results_and_are_not_launched_again() -> None:
    host = Host({0: 1.0, 1: 1.0, 2: 1.0}, fates={0: "crashed", 1: "build-failed"})
    measurements, _, _ = tuned(host, 0, 1, 2)
    assert [m.status for m in measurements] == ["crashed", "build-failed", "ok"]
    assert [host.count(n) for n in range(3)] == [1, 0, 3]


def test_time_limits_begin_with_the_prediction() -> None:
    host = Host({1: 2.0}, noise=0.0)
    tuned(host, 1)
    assert host.limits[1] == [1.5, 2.0, 2.0]


def test_after_the_deadline_there_is_neither_build_nor_row() -> None:
    host = Host({0: 1.0})
    measurements, journal, _ = tuned(host, 0, deadline=time.monotonic() - 1)
    assert (measurements, host.built, journal.outcomes) == ([], [], {})


def test_what_was_cut_short_has_a_row_but_no_outcome(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The time is over after the first launch: a resumed study takes the candidate up again."""
    host = Host({0: 1.0})
    monkeypatch.setattr(time, "monotonic", lambda: float(len(host.launched)))
    measurements, journal, _ = tuned(host, 0, deadline=1.0)
    assert [m.status for m in measurements] == ["ok"]
    assert host.count(0) == 1
    assert journal.outcomes == {}


def test_progress_counts_launches_and_ends_complete() -> None:
    _, _, stages = tuned(Host({0: 1.0, 1: 1.0}), 0, 1, rounds=2)
    assert stages[-5:] == [
        "measure, round 1 of 2: 0 of 4",
        "measure, round 1 of 2: 1 of 4",
        "measure, round 2 of 2: 2 of 4",
        "measure, round 2 of 2: 3 of 4",
        "measure: 4 of 4",
    ]


def test_nothing_chosen_is_nothing_measured() -> None:
    assert tuned(Host({}))[0] == []
