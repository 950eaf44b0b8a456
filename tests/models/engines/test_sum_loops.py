"""Sums over an index: in-core results per component, and predictions of the flock."""

from dataclasses import replace

import pytest
from codegen_build import SKELETON, problem, variant
from sample_nodes import documented

from autotune.codegen.tree import variant_program
from autotune.domain.variant import Interchange
from autotune.models.engines.reuse.sum_loops import per_component
from autotune.models.incore.base import InCoreResult, RemainderLoop
from autotune.models.traffic import analyse
from autotune.models.traffic.sweep_shape import SweepShape
from autotune.units import Cycles


def result(**changes: object) -> InCoreResult:
    plain = InCoreResult(
        T_OL=Cycles(2.0),
        T_nOL=Cycles(0.5),
        chain=Cycles(1.0),
        bottleneck="divider",
        iterations=8,
        route="made up",
        approximate=False,
        loads=2.0,
        width=0.1,
        entry=Cycles(7.0),
        ladder=(
            RemainderLoop(iterations=8, T_OL=Cycles(2.0), T_nOL=Cycles(0.5)),
            RemainderLoop(iterations=1, T_OL=Cycles(4.0), T_nOL=Cycles(1.0)),
        ),
    )
    return replace(plain, **changes)


def shape(terms: float, sums: int = 1) -> SweepShape:
    return SweepShape(lower=0, upper=9, share=1.0, accesses=(), streams=(), terms=terms, sums=sums)


def test_the_terms_of_a_component_are_counted_with_the_remainder_of_the_loop() -> None:
    made = per_component(result(), shape(19), 1e6)
    assert made.T_OL == 16 * 2 + 3 * 4 + 7
    assert made.T_nOL == 16 * 0.5 + 3
    assert (made.chain, made.loads, made.iterations, made.entry) == (19, 38, 1, 0)
    assert made.ladder == (RemainderLoop(iterations=1, T_OL=made.T_OL, T_nOL=made.T_nOL),)
    assert "each component has a sum of 19 terms" in made.notes[-1]
    assert not made.approximate


def test_several_sums_are_counted_like_the_hottest_one_and_are_less_sure() -> None:
    made = per_component(result(), shape(38, 2), 1e6)
    assert made.T_OL == 2 * (16 * 2 + 3 * 4) + 7
    assert made.approximate
    assert made.width == pytest.approx(0.2)
    assert "2 sums of 19 terms" in made.notes[-1]


@pytest.mark.parametrize(("made", "terms"), [(result(), 0.0), (result(stores=1.0), 4.0)])
def test_loops_over_components_stay_as_they_are(made: InCoreResult, terms: float) -> None:
    """Without a sum, and where the compiler has written out a short one."""
    assert per_component(made, shape(terms, int(terms > 0)), 1e6) == made


@pytest.mark.parametrize(("size", "level"), [(100, "L1"), (8000, "L2")])
def test_a_flock_that_leaves_a_cache_is_read_from_the_next_for_each_bird(
    size: int, level: str
) -> None:
    at = problem("flock", size)
    program = variant_program.program(variant(Interchange("lc", ("j", "i", "l"))), SKELETON, at)
    records = analyse(program, at, 1, documented()).records()
    (first, *_) = [r for r in records if r.sweep == "f_flock_1"]
    (again,) = [s for s in first.streams if s.lines > 1]
    assert again.kind == "load"
    assert again.lines == 2 * size / 8
    assert again.distance == 16 * size
    assert again.level == level


@pytest.mark.parametrize(("scattered", "width"), [(8e5, 0.8), (8e6, 12.0)])
def test_reads_through_index_arrays_are_unsure_the_more_beyond_a_private_cache(
    scattered: float, width: float
) -> None:
    at = replace(shape(0.0, 0), gathers=2, scattered=scattered)
    made = per_component(result(stores=1.0), at, 1e6)
    assert (made.T_OL, made.gathers, made.width) == (2.0, 2.0, width)
    assert made.approximate
    assert "2 elements read through index arrays" in made.notes[-1]
