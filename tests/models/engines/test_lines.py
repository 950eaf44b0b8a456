"""Costs of lines by reuse distance: measured curve, machine file, overlap, what is missing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_nodes import KIB, MIB, calibrated, documented

from autotune.domain.machine import Memory
from autotune.models.engines.reuse.line_cost import LineCosts, line_costs


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
