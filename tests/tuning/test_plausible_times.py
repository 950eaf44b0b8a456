"""Constant times, and times that do not fit the life of their process, are told from samples."""

from collections.abc import Sequence

from autotune.domain.results import Sample
from autotune.statistics.waiting import PART
from autotune.tuning.plausible_times import constant_time, odd_shares
from autotune.units import Seconds


def launches(times: Sequence[float], walls: Sequence[float]) -> list[Sample]:
    """A sample for every time, each of a launch of its own."""
    return [
        Sample(
            seconds=Seconds(time), steps=1, busy=1.0, undisturbed=True, launch=i, round=i, taken="",
            conditions={"wall_s": wall, PART: time / wall},
        )
        for i, (time, wall) in enumerate(zip(times, walls, strict=True))
    ]  # fmt: skip


def test_a_constant_is_told_when_its_processes_differ() -> None:
    walls = [0.051, 0.055, 0.06, 0.052, 0.053]
    assert "1.234 ms in each of 5 launches" in constant_time(launches([0.001234] * 5, walls))
    assert not constant_time(launches([0.001234] * 4, walls[:4])), "too few samples"
    assert not constant_time(launches([0.001234] * 4 + [0.001235], walls))
    coarse = [0.53, 0.531, 0.534, 0.533, 0.532]
    assert not constant_time(launches([0.52] * 5, coarse)), "printed with two digits"
    assert constant_time(launches([0.5234567] * 5, coarse))
    set_up = [0.45, 0.61, 0.75, 0.5, 0.7]
    assert not constant_time(launches([0.05] * 5, set_up)), "two digits beside a set-up that varies"
    micro = [1e-6 * n for n in (123, 123, 123, 123, 123)]
    assert not constant_time(launches(micro, [0.0011, 0.0013, 0.0012, 0.0011, 0.0014]))
    assert constant_time(launches([0.5] * 5, [0.51, 0.9, 0.53, 0.52, 0.51])), "most of its life"


def test_a_share_far_below_that_of_peers_is_odd_unless_the_process_was_as_short() -> None:
    honest = {f"c{i}": launches([0.1 + 0.01 * i] * 3, [0.12 + 0.01 * i] * 3) for i in range(4)}
    assert not odd_shares(honest)
    liar = {**honest, "liar": launches([0.001] * 3, [0.12] * 3)}
    assert list(odd_shares(liar)) == ["liar"]
    fast = {**honest, "fast": launches([0.001] * 3, [0.021] * 3)}
    assert not odd_shares(fast)
    begun = {f"c{i}": launches([1.0] * 3, [2.5] * 3) for i in range(4)}
    assert not odd_shares({**begun, "fast": launches([0.02] * 3, [1.52] * 3)}), "the same set-up"
    assert list(odd_shares({**begun, "liar": launches([0.02] * 3, [2.5] * 3)})) == ["liar"]
    repeated = {**honest, "liar": launches([0.02] * 5, [0.12, 0.13, 0.12, 0.14, 0.12])}
    assert "20 ms in each of 5 launches" in odd_shares(repeated)["liar"]
    assert not odd_shares({name: liar[name] for name in ("c0", "c1", "liar")}), "too few peers"
