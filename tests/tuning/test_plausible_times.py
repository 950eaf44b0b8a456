"""Constant times, and times that do not fit the life of their process, are told from samples."""

from collections.abc import Sequence

from autotune.domain.results import Sample
from autotune.statistics.launch_times import PART
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
    assert "1 ms in each of 5 launches" in constant_time(launches([0.001] * 5, walls))
    assert not constant_time(launches([0.001] * 4, walls[:4])), "too few samples"
    assert not constant_time(launches([0.001] * 4 + [0.0011], walls))
    coarse = [0.53, 0.531, 0.534, 0.533, 0.532]
    assert not constant_time(launches([0.52] * 5, coarse)), "printed with two digits"
    assert constant_time(launches([0.5234567] * 5, coarse))


def test_a_share_far_below_that_of_peers_is_odd_unless_the_process_was_as_short() -> None:
    honest = {f"c{i}": launches([0.1 + 0.01 * i] * 3, [0.12 + 0.01 * i] * 3) for i in range(4)}
    assert not odd_shares(honest)
    liar = {**honest, "liar": launches([0.001] * 3, [0.12] * 3)}
    assert list(odd_shares(liar)) == ["liar"]
    fast = {**honest, "fast": launches([0.001] * 3, [0.021] * 3)}
    assert not odd_shares(fast)
    assert not odd_shares({name: liar[name] for name in ("c0", "c1", "liar")}), "too few peers"
