"""What one run can compare: candidates from rounds that they share, chosen and scored apart."""

import fabricated as fake
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.domain.results import Measurement
from autotune.files.store.records import RunRecord
from autotune.results.evaluate.comparable import (
    ComparableRun,
    comparable_run,
    crossed_ratios,
    deciding_run,
)
from autotune.statistics.drift import levels
from autotune.statistics.launch_times import LaunchTime


def measured(name, times, *, stages=None, status="ok", busy=1.0):
    """A candidate with a time in each of some rounds."""
    samples = tuple(
        fake.sample(
            seconds,
            launch=number,
            round=number,
            busy=busy,
            undisturbed=busy >= 0.95,
            conditions={"stage": stages[number]} if stages else {},
        )
        for number, seconds in times.items()
    )
    return Measurement(candidate=name, run="r", status=status, samples=samples)


def run(*measurements, name="r"):
    facts = fake.facts()
    return RunRecord(
        id=name, study="s", machine=facts.machine, machine_identity=facts.machine_identity,
        versions={}, conditions={}, started="2026-01-01", ended=None, state="done",
        timings={}, choices=(), builds=(), checksums={}, finished=frozenset(),
        measurements=measurements,
    )  # fmt: skip


def rounds(*times):
    return dict(enumerate(times))


def test_some_of_the_candidates_keep_the_times_that_they_have_beside_all() -> None:
    """The machine is slower in the final rounds, which only a and b have."""
    stages = {number: "first" if number < 3 else "final" for number in range(7)}
    final = {"stages": stages}
    made = comparable_run(
        run(
            measured("a", rounds(1.0, 1.0, 1.0, 1.5, 1.5, 1.5, 1.5), **final),
            measured("b", rounds(1.1, 1.1, 1.1, 1.6, 1.6, 1.6, 1.6), **final),
            measured("c", rounds(2.0, 2.0, 2.0), **final),
            measured("d", rounds(3.0), **final),
        ),
        set("abcd"),
    )
    assert made is not None
    assert made.finals
    assert made.among(set("abcd")).contenders == made.contenders
    assert made.among({"e"}) is None
    for names, rivals, fastest in (("bcd", "b", "b"), ("cd", "c", "c"), ("d", "d", "d")):
        some = made.among(set(names))
        assert set(some.rounds) == set(rivals)
        assert some.fastest == fastest
        assert some.times == {name: made.times[name] for name in names}
        assert some.intervals == {name: made.intervals[name] for name in names}
        assert some.finals == ("b" in names)
        assert some.least_regret == fastest
    assert made.times["c"] == pytest.approx(3.0, rel=0.05)


def test_a_run_that_measured_none_of_the_candidates_compares_nothing():
    other = run(measured("a", rounds(1.0)))
    assert comparable_run(other, {"b"}) is None
    assert comparable_run(run(), {"a"}) is None
    failed = run(measured("a", {}, status="crashed"))
    assert comparable_run(failed, {"a"}) is None


def test_where_all_were_measured_alike_all_rounds_count():
    made = comparable_run(
        run(measured("a", rounds(1.0, 1.2, 1.1)), measured("b", rounds(2.0, 2.0, 2.0))),
        {"a", "b"},
    )
    assert made is not None
    assert made.run == "r"
    assert made.fastest == "a"
    assert made.times["b"] == pytest.approx(2.0)
    assert 1.0 <= made.times["a"] <= 1.2
    assert not made.finals
    assert set(made.rounds["a"]) == {0, 1, 2}


def test_a_candidate_with_few_samples_cannot_be_chosen():
    made = comparable_run(
        run(measured("a", rounds(1.0)), measured("b", rounds(2.0, 2.0, 2.0, 2.0))), {"a", "b"}
    )
    assert made is not None
    assert set(made.rounds) == {"b"}
    half = comparable_run(
        run(measured("a", rounds(1.0, 1.0)), measured("b", rounds(2.0, 2.0, 2.0, 2.0))),
        {"a", "b"},
    )
    assert half is not None
    assert set(half.rounds) == {"a", "b"}


def test_disturbed_samples_count_by_the_time_that_they_did_not_lose():
    noisy = measured("a", rounds(2.0, 4.0), busy=0.5)
    made = comparable_run(run(noisy, measured("b", rounds(1.2, 2.4))), {"a", "b"})
    assert made is not None
    assert made.times["a"] / made.times["b"] == pytest.approx(1 / 1.2, rel=0.02)


def test_finalists_are_compared_by_the_finals_alone():
    stages = {0: "first", 1: "search", 2: "final", 3: "final", 4: "final"}
    a = measured("a", {0: 1.0, 2: 2.0, 3: 2.0, 4: 2.0}, stages=stages)
    b = measured("b", {0: 3.0, 2: 1.0, 3: 1.0, 4: 1.0}, stages=stages)
    c = measured("c", {0: 2.0}, stages=stages)
    made = comparable_run(run(a, b, c), {"a", "b", "c"})
    assert made is not None
    assert (made.finals, made.fastest) == (True, "b")
    assert set(made.rounds) == {"a", "b"}
    assert made.times["a"] == pytest.approx(2.0)
    assert made.times["b"] == pytest.approx(1.0)
    assert set(made.times) == {"a", "b", "c"}


@pytest.mark.parametrize("last", [(2,), (2, 3)])
def test_finals_that_were_cut_short_do_not_hide_who_was_not_launched_in_them(last):
    stages = {0: "first", 1: "first", 2: "final", 3: "final"}
    a = measured("a", dict.fromkeys((0, 1, *last), 2.0), stages=stages)
    b = measured("b", dict.fromkeys((0, 1, *last), 3.0), stages=stages)
    c = measured("c", dict.fromkeys((0, 1), 1.0), stages=stages)
    made = comparable_run(run(a, b, c), {"a", "b", "c"})
    assert made is not None
    assert (made.finals, made.fastest) == (False, "c")


def test_drift_between_rounds_is_taken_out_of_a_search():
    stages = {0: "first", 1: "search", 2: "search"}
    a = measured("a", {0: 1.0, 1: 2.0, 2: 4.0}, stages=stages)
    b = measured("b", {0: 1.5, 1: 3.0}, stages=stages)
    c = measured("c", {0: 0.9, 2: 3.6}, stages=stages)
    made = comparable_run(run(a, b, c), {"a", "b", "c"})
    assert made is not None
    assert made.times["b"] / made.times["a"] == pytest.approx(1.5, rel=0.01)
    assert made.times["c"] / made.times["a"] == pytest.approx(0.9, rel=0.01)
    for times in made.rounds.values():
        values = [time.seconds for time in times.values()]
        assert max(values) / min(values) == pytest.approx(1.0, rel=0.01)


def test_a_candidate_of_a_late_batch_can_be_chosen():
    """The fastest of the first batch is measured again beside every later batch."""
    stages = dict.fromkeys(range(9), "first")
    made = comparable_run(
        run(
            measured("baseline", rounds(2.0, 2.0, 2.0), stages=stages),
            measured("rival", dict.fromkeys(range(9), 1.5), stages=stages),
            measured("second", dict.fromkeys((3, 4, 5), 1.8), stages=stages),
            measured("late", dict.fromkeys((6, 7, 8), 1.0), stages=stages),
            measured("once", {8: 0.9}, stages=stages),
        ),
        {"baseline", "rival", "second", "late", "once"},
    )
    assert made is not None
    assert not made.finals
    assert set(made.rounds) == {"baseline", "rival", "second", "late"}
    assert made.fastest == "late"


@settings(max_examples=10)
@given(st.floats(0.01, 100))
def test_a_comparison_is_the_same_on_a_machine_of_another_speed(factor):
    times = {"a": rounds(1.0, 1.3, 1.1), "b": rounds(2.0, 2.1, 1.9), "c": rounds(1.05, 1.2, 1.0)}
    slow = {n: {r: t * factor for r, t in v.items()} for n, v in times.items()}
    made = comparable_run(run(*[measured(n, t) for n, t in times.items()]), set(times))
    other = comparable_run(run(*[measured(n, t) for n, t in slow.items()]), set(times))
    assert made is not None
    assert other is not None
    assert made.fastest == other.fastest
    for name in times:
        assert other.times[name] == pytest.approx(factor * made.times[name])
    assert crossed_ratios(other, "b") == pytest.approx(crossed_ratios(made, "b"))


# --- over several runs ------------------------------------------------------------------------


def compared(name, **times):
    return table_of(name, {n: {0: LaunchTime(t)} for n, t in times.items()})


def table_of(name, table):
    level = levels(table)
    intervals = {n: (t / 1.1, t * 1.1) for n, t in level.times.items()}
    return ComparableRun(
        run=name, rounds=table, level=level, times=level.times, intervals=intervals
    )


def test_a_run_that_holds_the_winner_so_far_may_replace_it():
    first, second = compared("1", a=1.0, b=2.0), compared("2", a=3.0, b=2.5)
    assert deciding_run([first, second]) is second


def test_a_run_without_the_winner_counts_only_where_it_compared_more():
    first = compared("1", a=1.0, b=2.0)
    assert deciding_run([first, compared("2", b=1.0, c=2.0)]) is first
    more = compared("2", b=1.0, c=2.0, d=3.0)
    assert deciding_run([first, more]) is more
    assert deciding_run([]) is None


def test_of_equal_times_the_first_name_is_the_fastest():
    assert compared("1", b=1.0, a=1.0).fastest == "a"


def test_the_winner_of_each_round_is_chosen_by_the_others():
    rows = {"a": (1.0, 1.0, 9.0), "b": (2.0, 2.0, 2.0)}
    table = {n: {r: LaunchTime(t) for r, t in enumerate(row)} for n, row in rows.items()}
    # the mean of two times that lie far apart decides rounds 0 and 1
    ratios = crossed_ratios(table_of("r", table), "b")
    assert len(ratios) == 3
    assert ratios[2] == pytest.approx(2 / 9)


def test_a_single_round_cannot_choose_and_score():
    assert crossed_ratios(compared("r", a=1.0, b=2.0), "b") == []


# --- who may be the fastest ---------------------------------------------------------------------


def contenders(**rows):
    measurements = [measured(name, dict(enumerate(row))) for name, row in rows.items()]
    made = comparable_run(run(*measurements), set(rows))
    assert made is not None
    return made.contenders


def test_a_winner_is_declared_where_it_is_told_apart_from_all():
    assert contenders(a=[1.0] * 8, b=[1.2] * 8, c=[2.0] * 8) == ("a",)


def test_those_that_are_not_told_apart_are_named_fastest_first():
    a, b = [1.0, 1.02, 0.99, 1.01, 1.0], [1.01, 1.0, 1.01, 1.02, 1.0]
    assert contenders(a=a, b=b, c=[2.0] * 5) == ("a", "b")


def test_one_round_tells_nobody_apart_that_is_near():
    assert contenders(a=[1.0], b=[1.05], c=[9.0]) == ("a", "b")


def test_the_ratio_of_two_has_an_interval_from_three_rounds_on():
    two = comparable_run(
        run(measured("a", rounds(1.0, 1.0)), measured("b", rounds(2.0, 2.0))), "ab"
    )
    assert two is not None
    assert two.ratio("b", "a") is None
    three = comparable_run(
        run(measured("a", rounds(*[1.0] * 3)), measured("b", rounds(*[2.0] * 3))), "ab"
    )
    assert three is not None
    low, high = three.ratio("b", "a") or (0, 0)
    assert 1.7 < low < 2.0 < high < 2.4


def test_a_time_is_no_surer_than_its_own_launches():
    """The noise of a launch is that of all candidates; one may be far less steady."""
    steady = [1.0, 1.01, 0.99, 1.0]
    made = comparable_run(
        run(
            measured("restless", rounds(5.1, 4.9, 7.6, 6.8)),
            *(
                measured(name, rounds(*(f * x for x in steady)))
                for name, f in zip("abc", (1, 2, 3), strict=True)
            ),
        ),
        ["restless", *"abc"],
    )
    assert made is not None
    low, high = made.intervals["restless"]
    assert low < 5.1 < 6.8 < high
    assert all(made.intervals[name][1] < 1.2 * made.intervals[name][0] for name in "abc")
