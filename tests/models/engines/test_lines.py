"""Costs of lines by reuse distance: measured curve, machine file, overlap, what is missing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_nodes import KIB, MIB, calibrated, documented

from autotune.domain.machine import CacheLevel, Memory
from autotune.models.engines.reuse.line_cost import Crowding, LineCosts, line_costs


def cost(costs: LineCosts, distance: float) -> float:
    distances = np.array([distance])
    return float(costs.inbound(distances, costs.level(distances))[0])


def test_a_machine_file_adds_the_links_of_the_path() -> None:
    """64 B over 64 B/cy, 32 B/cy, and 10 GB/s at 2 GHz = 5 B/cy."""
    serial = line_costs(documented(exposed=1), 1)
    distances = (16 * KIB, 100 * KIB, 4 * MIB, 100 * MIB)
    assert [cost(serial, d) for d in distances] == pytest.approx([0, 1, 3, 15.8])
    overlapping = line_costs(documented(exposed=0), 1)
    assert [cost(overlapping, d) for d in distances] == pytest.approx([0, 1, 2, 12.8])


def test_memory_is_shared_by_the_threads_of_a_domain() -> None:
    """One thread draws 10 GB/s, four of them 40 GB/s together, eight on two domains too."""
    per_line = [cost(line_costs(documented(exposed=0), t), 1e9) for t in (1, 2, 4, 8)]
    assert per_line == pytest.approx([12.8] * 4)
    scarce = [cost(line_costs(documented(exposed=0, saturated=20e9), t), 1e9) for t in (1, 2, 4)]
    assert scarce == pytest.approx([12.8, 12.8, 25.6])


def test_shared_caches_shrink_with_the_threads() -> None:
    level = [line_costs(documented(), t).level(np.array([3.0 * MIB]))[0] for t in (1, 2, 4)]
    assert level == [2, 2, 3]


def test_a_curve_wins_over_the_file_and_belongs_to_its_threads() -> None:
    hidden = [line_costs(calibrated(exposed=0), t) for t in (1, 2, 4)]
    assert [cost(c, 200 * KIB) for c in hidden] == pytest.approx([2, 2, 2])
    assert [cost(c, 1e9) for c in hidden] == pytest.approx([16, 64 / 3, 32])
    assert hidden[0].extrapolated == ()
    assert line_costs(calibrated(), 3).extrapolated == ("L2", "L3", "MEM")


def test_exposed_transfers_leave_the_time_of_the_loads_to_the_core() -> None:
    """The measured loop took 1 cycle per line in L1 already."""
    assert cost(line_costs(calibrated(exposed=1), 1), 1e9) == pytest.approx(15)
    assert cost(line_costs(calibrated(exposed=0.5), 1), 1e9) == pytest.approx(15.5)


@given(near=st.floats(1, 1e9), far=st.floats(1, 1e9), threads=st.integers(1, 8))
def test_a_line_from_further_away_never_costs_less(near: float, far: float, threads: int) -> None:
    near, far = min(near, far), max(near, far)
    for machine in (documented(), documented(exposed=0), calibrated(), calibrated(exposed=1)):
        costs = line_costs(machine, threads)
        assert cost(costs, near) <= cost(costs, far) * (1 + 1e-12)


def test_outbound_lines_cost_only_where_the_file_says_so() -> None:
    silent = line_costs(documented(), 1)
    assert silent.outbound(np.array([0, 1, 2, 3])).tolist() == [0, 0, 0, 0]
    machine = documented()
    caches = [replace(cache, outbound=32.0) for cache in machine.caches]
    speaking = replace(machine, caches=tuple(caches), memory=Memory(single=1e10, outbound=2e10))
    found = line_costs(speaking, 1).outbound(np.array([0, 1, 2, 3]))
    assert found.tolist() == pytest.approx([0, 2, 4, 10.4])


def test_what_is_missing_is_named() -> None:
    machine = documented()
    bare = replace(
        machine,
        caches=(machine.caches[0], machine.caches[1], replace(machine.caches[2], inbound=None)),
        memory=Memory(),
    )
    costs = line_costs(bare, 1)
    assert cost(costs, 100 * KIB) == 1
    assert np.isnan(cost(costs, 4 * MIB))
    assert np.isnan(cost(costs, 100 * MIB))
    assert "inbound bandwidth (B/cy) of L3" in costs.missing(2)
    full = line_costs(replace(machine, memory=Memory()), 1)
    assert cost(full, 4 * MIB) == 3
    assert "bandwidth of MEM" in full.missing(3)


def test_notes_say_of_which_threads_the_curve_is_and_whether_it_was_disturbed() -> None:
    machine = calibrated()
    assert machine.calibration is not None
    assert line_costs(machine, 2).notes == ()
    assert line_costs(machine, 8).notes == ("bandwidths measured with 4 threads, not 8",)
    busy = replace(machine, calibration=replace(machine.calibration, contended=True))
    disturbed = line_costs(busy, 1)
    assert disturbed.notes == ("calibrated while other processes took the cores",)
    assert line_costs(machine, 1).spread == pytest.approx(0.05)
    assert disturbed.spread == pytest.approx(0.2)
    assert line_costs(documented(), 1).notes[0] == "bandwidths from the machine file, not measured"
    assert (line_costs(documented(), 1).spread, line_costs(documented(), 1).extrapolated) == (
        0.3,
        ("L2", "L3", "MEM"),
    )


def test_a_store_allocates_within_the_first_cache_that_does() -> None:
    machine = documented()
    l1, *outer = machine.caches
    assert line_costs(machine, 1).allocating == 32 * KIB
    through = replace(machine, caches=(replace(l1, write_allocate=False), *outer))
    assert line_costs(through, 1).allocating == 256 * KIB
    never = tuple(replace(cache, write_allocate=False) for cache in machine.caches)
    assert line_costs(replace(machine, caches=never), 1).allocating == np.inf


def test_private_caches_are_those_of_one_core() -> None:
    assert line_costs(documented(), 4).private == 256 * KIB
    shared = tuple(replace(cache, cores=4) for cache in documented().caches)
    assert line_costs(replace(documented(), caches=shared), 4).private == 0.0


def with_victim() -> tuple[CacheLevel, ...]:
    """L3 holds what L2 evicts: each line that passes by pushes one there, at 16 B/cy."""
    l1, l2, l3 = documented().caches
    return l1, l2, replace(l3, victim=True, outbound=16.0)


def test_a_victim_cache_adds_to_the_one_before_it() -> None:
    machine = replace(documented(), caches=with_victim())
    costs = line_costs(machine, 4)
    assert costs.borders.tolist() == [32 * KIB, 256 * KIB, 2 * MIB + 256 * KIB]
    assert costs.victims.tolist() == [0, 4, 0]
    assert costs.outlinks.tolist() == [0, 0, 0]
    assert cost(costs, 1 * MIB) == pytest.approx(1 + 4 + 2)  # from L3, one line evicted to it
    assert cost(line_costs(machine, 1), 100 * MIB) == pytest.approx(1 + 4 + 12.8)  # past L3


def test_links_that_a_line_does_not_enter_cost_nothing() -> None:
    costs = line_costs(documented(exposed=1), 1)
    far = np.array([100.0 * MIB])
    level = costs.level(far)
    passed = [float(costs.inbound(far, level, beyond=beyond)[0]) for beyond in (0, 1, 2, 3)]
    assert passed == pytest.approx([15.8, 14.8, 12.8, 0.0])


def test_penalties_of_memory_are_added_per_line() -> None:
    machine = documented(exposed=0, penalty_load=3.0, penalty_store=5.0, outbound=20e9)
    costs = line_costs(machine, 1)
    assert cost(costs, 100 * MIB) == pytest.approx(15.8)
    assert costs.outlinks[-1] == pytest.approx(6.4 + 5.0)
    assert line_costs(machine, 2).outlinks[-1] == pytest.approx(12.8 + 5.0)


def test_a_typical_line_lies_in_the_geometric_middle_of_its_level() -> None:
    costs = line_costs(calibrated(), 1)
    # 91 KiB: 2.5 of the 3 doublings from 16 KiB at 64 B/cy to 128 KiB at 32 B/cy
    assert costs.typical(1) == pytest.approx(2 ** (2.5 / 3))
    assert costs.typical(2) == pytest.approx(4.0)
    middle = np.sqrt(8 * MIB * 16 * 8 * MIB)
    assert costs.typical(3) == pytest.approx(cost(costs, middle))


def test_near_memory_the_last_cache_delivers_the_rest() -> None:
    """At the geometric middle of 8 and 64 MiB the curve is at 8 B/cy, memory at 4."""
    costs = line_costs(calibrated(), 1)
    distance = np.array([np.sqrt(8.0 * 64) * MIB, 8.0 * MIB, 100.0 * MIB])
    share = costs.from_memory(distance, np.array([3, 2, 3]))
    assert share == pytest.approx([0.5, 0.0, 1.0])
    faster = replace(costs, memory=8.0)  # than the curve so far out
    assert faster.from_memory(distance[2:], np.array([3])) == pytest.approx([1.0])


def test_crowds_of_streams_lie_between_measured_counts_and_sizes() -> None:
    """Of four streams 1/4 at 1 MiB and all at 16 MiB; two streams are half-way in logarithms."""
    crowding = Crowding(
        streams=np.log([1.0, 4.0]),
        sizes=np.log([1.0 * MIB, 16.0 * MIB]),
        factors=np.log([[1.0, 1.0], [0.25, 1.0]]),
    )
    crowd = np.array([1.0, 2.0, 4.0, 9.0, 0.0])
    sizes = np.log([1.0 * MIB, 4.0 * MIB, 16.0 * MIB])
    factors = crowding.of(crowd, np.tile(sizes, (5, 1)))
    assert factors == pytest.approx(
        np.array(
            [[1, 1, 1], [0.5, 0.5**0.5, 1], [0.25, 0.5, 1], [0.25, 0.5, 1], [1, 1, 1]], dtype=float
        )
    )
    costs = replace(line_costs(calibrated(), 1), crowding=crowding)
    alone, crowded = (
        float(costs.measured(np.array([[1.0 * MIB]]), count)[0, 0])
        for count in (None, np.array([4.0]))
    )
    assert crowded == pytest.approx(alone / 4)


def test_scattered_threads_have_the_caches_of_those_that_share_them() -> None:
    """Eight cores in two groups: four scattered threads are two in each."""
    machine = replace(documented(), cores=8)
    costs = line_costs(machine, 4, "scatter")
    assert costs.borders.tolist() == [32 * KIB, 256 * KIB, 4 * MIB]
    assert line_costs(machine, 4).borders.tolist() == [32 * KIB, 256 * KIB, 2 * MIB]
    assert costs.notes[-1] == "4 threads scatter: 2 in the fullest memory domain"
