"""Rounds of launches on a made-up host: order, samples, verdicts, levels."""

import math
import time
from dataclasses import replace

import pytest
from fake_host import Host, Notebook, bench, candidate

from autotune.domain.results import Measurement, Sample
from autotune.domain.setup import Measuring
from autotune.measuring.candidates.base import Launch
from autotune.statistics.launch_times import LaunchTime
from autotune.tuning.base import EarlierResult, TuningPlan
from autotune.tuning.rounds import MeasuredGroup, shown

MEASURING = Measuring(rounds=3, samples=2)


def group_of(host: Host, journal: Notebook | None = None, seed: int = 1) -> MeasuredGroup:
    """All candidates of the host, built."""
    plan = TuningPlan(measuring=MEASURING, seed=seed)
    group = MeasuredGroup(bench=bench(host, journal or Notebook()), plan=plan)
    for number in host.times:
        group.enter(host.prepare(candidate(number)), expected=9.0)
    return group


def names(*numbers: int) -> list[str]:
    return [candidate(number).identity for number in numbers]


def silent(done: int, label: str) -> None:
    """Nobody is shown the progress."""


def rounds(group: MeasuredGroup, count: int, *numbers: int) -> None:
    for _ in range(count):
        group.round(names(*numbers), None, silent)


# --- launching ----------------------------------------------------------------------------------


def test_a_round_launches_each_once_in_an_order_that_changes() -> None:
    host = Host(dict.fromkeys(range(6), 1.0))
    rounds(group_of(host), 5, *range(6))
    orders = [tuple(n for n, r in host.launched if r == number) for number in range(5)]
    assert all(sorted(order) == list(range(6)) for order in orders)
    assert len(set(orders)) > 1


def test_equal_seeds_launch_in_the_same_order() -> None:
    hosts = [Host(dict.fromkeys(range(6), 1.0)) for _ in range(3)]
    for host, seed in zip(hosts, (5, 5, 6), strict=True):
        rounds(group_of(host, seed=seed), 3, *range(6))
    assert hosts[0].launched == hosts[1].launched
    assert hosts[0].launched != hosts[2].launched


def test_every_sample_is_kept_and_told_with_its_round_launch_and_stage() -> None:
    journal = Notebook()
    group = group_of(Host({0: 1.0, 1: 2.0}), journal)
    rounds(group, 1, 0)
    group.round(names(0, 1), "final", silent)
    samples = group.samples[names(0)[0]]
    assert [(s.launch, s.round, s.stage) for s in samples] == [(0, 0, None)] * 3 + [
        (1, 1, "final")
    ] * 3
    assert len(journal.samples) == 9
    assert [s.round for s in group.samples[names(1)[0]]] == [1, 1, 1]


def test_every_round_has_a_time_and_a_disturbed_one_what_it_would_have_taken() -> None:
    host = Host({0: 2.0}, noise=0.0, disturbed=lambda launch: launch == 1)
    group = group_of(host)
    rounds(group, 3, 0)
    times = group.times(names(0)[0])
    assert {number: time.seconds for number, time in times.items()} == pytest.approx(
        {0: 2.0, 1: 2.0, 2: 2.0}
    )
    assert [time.lost for time in times.values()] == pytest.approx([0.0, math.log(2), 0.0])
    assert [s.seconds for s in group.samples[names(0)[0]]] == [2.0] * 3 + [4.0] * 3 + [2.0] * 3
    assert group.times("unknown") == {}


def test_a_launch_that_printed_nothing_has_no_time_and_is_no_failure() -> None:
    group = group_of(Host({0: 2.0}, noise=0.0, starved=lambda launch: launch == 1))
    rounds(group, 3, 0)
    assert sorted(group.times(names(0)[0])) == [0, 2]
    assert measured(group, 0).status == "ok"


class WarmingUp(Host):
    """The first sample of each launch warms up, and is twice as fast."""

    def launch(self, prepared, *, on_sample, **settings) -> Launch:
        def keep(sample: Sample) -> None:
            first = sample.taken.endswith(".0")
            on_sample(
                replace(sample, warm_up=True, seconds=sample.seconds / 2) if first else sample
            )

        return super().launch(prepared, on_sample=keep, **settings)


def test_samples_that_warm_up_are_kept_but_do_not_count() -> None:
    host = WarmingUp({0: 2.0}, noise=0.0)
    group = group_of(host)
    rounds(group, 2, 0)
    assert group.times(names(0)[0]) == {0: LaunchTime(2.0), 1: LaunchTime(2.0)}
    assert [s.seconds for s in group.samples[names(0)[0]]] == [1.0, 2.0, 2.0] * 2
    assert host.limits[0] == [9.0, 2.0]


def test_time_limits_go_by_the_fastest_launch_so_far_and_before_by_what_is_expected() -> None:
    host = Host({0: 2.0}, noise=0.0, starved=lambda launch: launch == 0)
    rounds(group_of(host), 3, 0)
    assert host.limits[0] == [9.0, 9.0, 2.0]


def test_what_failed_is_not_launched_again_and_the_others_are() -> None:
    host = Host({0: 1.0, 1: 1.0, 2: 1.0}, fates={0: "crashed", 2: "build-failed"})
    group = group_of(host)
    rounds(group, 3, 0, 1, 2)
    assert [host.count(number) for number in range(3)] == [1, 3, 0]
    assert group.launches == {names(0)[0]: 1, names(1)[0]: 3}


def test_after_the_deadline_no_launch_begins() -> None:
    host = Host({0: 1.0, 1: 1.0})
    group = group_of(host)
    group.round(names(0, 1), None, silent, deadline=time.monotonic() - 1)
    assert host.launched == []
    assert group.rounds == 1
    assert group.measurement(names(0)[0]) is None, "it could not be launched in time"


def test_progress_counts_the_launches_before_the_round() -> None:
    words: list[tuple[str, int, int, str]] = []

    def progress(stage: str, done: int, total: int, detail: str = "") -> None:
        words.append((stage, done, total, detail))

    group_of(Host({0: 1.0, 1: 1.0})).round(names(0, 1), None, shown(progress, "round 3", 4, 6))
    assert [word[:3] for word in words] == [("round 3", 4, 6), ("round 3", 5, 6)]
    assert {word[3] for word in words} == {candidate(n).label for n in (0, 1)}


# --- verdicts -----------------------------------------------------------------------------------


def measured(group: MeasuredGroup, number: int) -> Measurement:
    measurement = group.measurement(names(number)[0])
    assert measurement is not None
    return measurement


def test_a_measurement_has_all_samples_and_is_verified() -> None:
    group = group_of(Host({0: 1.0}))
    rounds(group, 2, 0)
    result = measured(group, 0)
    assert (result.status, result.detail, result.verified) == ("ok", "", True)
    assert len(result.samples) == 6
    assert result.build == "b0"


def test_where_no_launch_printed_a_time_it_is_contended() -> None:
    group = group_of(Host({0: 1.0}, starved=lambda _: True))
    rounds(group, 2, 0)
    result = measured(group, 0)
    assert result.status == "contended"
    assert result.detail == "no launch of it printed a time: other processes took the cores"
    assert result.samples == ()


def test_where_every_sample_was_disturbed_it_has_a_time_all_the_same() -> None:
    group = group_of(Host({0: 1.0}, noise=0.0, disturbed=lambda _: True))
    rounds(group, 2, 0)
    result = measured(group, 0)
    assert (result.status, result.detail) == ("ok", "")
    assert (len(result.timed), result.disturbed) == (6, 6)
    assert group.levels().times[names(0)[0]] == pytest.approx(1.0)


def test_a_failure_keeps_its_status_and_detail() -> None:
    group = group_of(Host({0: 1.0, 1: 1.0}, fates={0: "timed-out", 1: "build-failed"}))
    rounds(group, 1, 0, 1)
    assert (measured(group, 0).status, measured(group, 0).detail) == ("timed-out", "it did")
    built = measured(group, 1)
    assert (built.status, built.verified, built.samples) == ("build-failed", False, ())


def test_without_the_checksum_of_the_majority_a_result_is_wrong() -> None:
    group = group_of(Host(dict.fromkeys(range(3), 1.0), checksums={1: (2.0, 2.0)}))
    rounds(group, 1, 0, 1, 2)
    result = measured(group, 1)
    assert (result.status, result.verified) == ("wrong-result", False)
    assert result.detail == "no majority shares its checksum 2.0 at the timed size"
    assert [group.bad(name) for name in names(0, 1, 2)] == [False, True, False]
    assert names(1)[0] not in group.levels().times


def test_a_checksum_that_changes_between_launches_is_a_wrong_result() -> None:
    checksums = {0: (1.0, 1.0)}
    host = Host({0: 1.0, 1: 1.0}, checksums=checksums)
    group = group_of(host)
    rounds(group, 1, 0, 1)
    checksums[0] = (1.5, 1.0)
    rounds(group, 1, 0, 1)
    assert measured(group, 0).status == "wrong-result"
    assert measured(group, 0).detail == "the checksum changed between launches: 1.0, 1.5"
    assert measured(group, 1).status == "ok"


# --- telling ------------------------------------------------------------------------------------


def test_outcomes_that_the_majority_changes_are_told_again() -> None:
    journal = Notebook()
    group = group_of(Host(dict.fromkeys(range(3), 1.0), checksums={1: (2.0, 2.0)}), journal)
    rounds(group, 1, 0, 1)
    for name in names(0, 1):
        group.settle(name)
    assert {o.status for o in journal.outcomes.values()} == {"wrong-result"}, "one against one"
    rounds(group, 1, 2)
    group.settle(names(2)[0])
    group.recount()
    assert [journal.outcomes[name].status for name in names(0, 1, 2)] == [
        "ok", "wrong-result", "ok",
    ]  # fmt: skip
    assert journal.checksums[names(1)[0]] == (2.0, 2.0)


def test_what_was_never_launched_has_no_outcome() -> None:
    journal = Notebook()
    group = group_of(Host({0: 1.0}), journal)
    group.settle(names(0)[0])
    assert journal.outcomes == {}
    assert group.reported == {}


# --- levels -------------------------------------------------------------------------------------


def earlier(journal: Notebook, *numbers: int) -> list[EarlierResult]:
    return [
        EarlierResult(
            candidate=candidate(number),
            measurement=Measurement(
                candidate=name,
                run="before",
                status="ok",
                samples=tuple(s for (i, _, _), s in journal.samples.items() if i == name),
            ),
            checksum=(1.0, 1.0),
        )
        for number in numbers
        for name in names(number)
    ]


def test_levels_are_those_of_the_first_rounds_whatever_the_drift() -> None:
    """Each launch the machine becomes 2 % slower; only candidate 1 takes part in late rounds."""
    host = Host({0: 1.0, 1: 1.5, 2: 3.0}, noise=0.0, drift=lambda launch: 1.02**launch)
    group = group_of(host)
    rounds(group, 3, 0, 1, 2)
    before = group.levels().times
    rounds(group, 12, 1, 2)
    after = group.levels().times
    assert after[names(1)[0]] / after[names(2)[0]] == pytest.approx(0.5, rel=0.02)
    assert after[names(1)[0]] == pytest.approx(before[names(1)[0]], rel=0.05)


def test_results_of_an_earlier_run_are_levelled_by_what_both_runs_measured() -> None:
    journal = Notebook()
    times = {0: 1.0, 1: 1.5, 2: 3.0}
    slow = group_of(Host(times, noise=0.0, drift=lambda _: 2.0), journal)
    rounds(slow, 3, 0, 1, 2)
    group = group_of(Host({0: 1.0}, noise=0.0))
    for result in earlier(journal, 0, 1, 2):
        group.earlier["before", result.candidate.identity] = result
    rounds(group, 3, 0)
    levelled = group.levels().times
    assert [levelled[name] for name in names(0, 1, 2)] == pytest.approx([1.0, 1.5, 3.0], rel=0.02)


def test_checksums_of_earlier_runs_vote_too() -> None:
    journal = Notebook()
    rounds(group_of(Host({1: 1.0, 2: 1.0}), journal), 1, 1, 2)
    group = group_of(Host({0: 1.0}, checksums={0: (5.0, 5.0)}))
    rounds(group, 1, 0)
    assert not group.wrong()
    for result in earlier(journal, 1, 2):
        group.earlier["before", result.candidate.identity] = result
    assert group.wrong() == {names(0)[0]: (5.0, 5.0)}
