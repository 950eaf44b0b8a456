"""Tests of the simulated window."""

import pytest

from autotune.models.incore.cost import window
from autotune.models.incore.cost.dependency_chain import ChainInstruction

LOAD = ChainInstruction(
    reads=frozenset(), addressing=frozenset({"r1"}), writes=frozenset({"v1"}), latency=0.0,
    load=4.0, loads=True,
)  # fmt: skip


@pytest.mark.parametrize("size", [1.0, 1.5, 2.125, 3.0])
def test_work_that_ends_within_a_cycle_leaves_the_rest_of_it_to_other_work(size: float) -> None:
    work = [[(size, frozenset({"1D", "3D"}))]] * 40
    assert window.cycles([LOAD] * 40, work, 60) == pytest.approx(20 * size, rel=0.03)


def test_instructions_without_vectors_take_no_ports() -> None:
    """Eight loads of pointers beside one of a vector."""
    pointers = [
        ChainInstruction(
            reads=frozenset(), addressing=frozenset({"r1"}), writes=frozenset({f"r{k}"}),
            latency=0.0, load=4.0, loads=True,
        )
        for k in range(2, 10)
    ]  # fmt: skip
    work = [[(1.0, frozenset({"8D"}))]] * 9
    assert window.cycles([*pointers, LOAD], work, 60) == pytest.approx(1.0, rel=0.05)
