"""The cache-miss model of stencils: its equations one by one, and the engine around it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stencil_samples import MACHINE, UNKNOWN, candidate, problem

from autotune.domain.problem import ButcherTableau, Ivp, Problem, Region
from autotune.domain.variant import Candidate, ExecutionLayout, Variant
from autotune.language.expression import Num, Sym, parse
from autotune.workloads.stencil.planes.planes_engine import (
    Grids,
    PlanesEngine,
    hits,
    misses,
    planes_read,
)

W = 8


def one(extents: tuple[int, ...], blocks: tuple[int, ...], order: int = 1) -> Grids:
    """A grid I, J, K with blocks."""
    return Grids(
        extents=np.array([extents], dtype=float),
        blocks=np.array([blocks], dtype=float),
        order=np.array([order], dtype=float),
        planar=np.array([False]),
    )


def nplanes(C: float, TI: int, TJ: int, order: int, whole: int = 1) -> float:
    """nplanes as the paper has it, case by case, with C in elements and write-allocate.

    Rows are rounded up to ``whole`` elements: W where there are blocks (Eq. 15).
    """
    P = 2 * order + 1
    I, II = (math.ceil(row / whole) * whole for row in (TI, TI + 2 * order))  # noqa: E741
    S_read = II * (TJ + 2 * order)
    S_total = P * S_read + I * TJ
    R_col = P / (2 * P - 1)

    def between(low: float, high: float, at_low: float, at_high: float) -> float:
        return at_low + (C - low) / (high - low) * (at_high - at_low)

    if C * R_col >= S_total:
        return 1
    if S_total < C:
        return between(S_total, S_total / R_col, P - 1, 1)
    if C * R_col > S_read:
        return between(S_read / R_col, S_total, P, P - 1)
    if C * R_col < P * II:
        return 2 * P - 1
    return between(P * II / R_col, S_read / R_col, 2 * P - 1, P)


@given(
    TI=st.integers(1, 2000),
    TJ=st.integers(12, 2000),
    order=st.integers(1, 4),
    C=st.floats(100, 1e8),
)
def test_planes_are_those_of_the_conditions(TI: int, TJ: int, order: int, C: float) -> None:
    found = planes_read(one((TI, TJ, 50), (TI, TJ, 50), order), np.array([[C]]), [True], W)
    assert found[0, 0] == pytest.approx(nplanes(C, TI, TJ, order), rel=1e-9)
    cut = planes_read(one((TI, TJ, 50), (TI, TJ, 25), order), np.array([[C]]), [True], W)
    assert cut[0, 0] == pytest.approx(nplanes(C, TI, TJ, order, whole=W), rel=1e-9)


def test_misses_of_a_cube_by_hand() -> None:
    """96^3, C = 4096: 13 lines x 98 rows x 98 planes x 4.535 planes (Eq. 7), II = 98."""
    cube = one((96, 96, 96), (96, 96, 96))
    read = planes_read(cube, np.array([[4096.0]]), [True], W)
    assert read[0, 0] == pytest.approx(5 - 2 * (4096 - 490) / (98 * 98 / 0.6 - 490))
    assert misses(cube, read, W)[0, 0] == pytest.approx(13 * 98 * 98 * read[0, 0])
    blocked = one((96, 96, 96), (40, 16, 96))
    assert misses(blocked, np.ones((1, 1)), W)[0, 0] == 3 * 6 * (6 * 18 * 98)  # Eq. 15


@given(
    blocks=st.tuples(*[st.integers(1, 300)] * 3),
    order=st.integers(1, 4),
    caches=st.lists(st.floats(100, 1e8), min_size=1, max_size=4),
)
def test_every_line_comes_from_somewhere(
    blocks: tuple[int, int, int], order: int, caches: list[float]
) -> None:
    """Hits of all levels add up to the 2 P - 1 planes that the loop refers to; none is negative."""
    grid = one((300, 300, 300), blocks, order)
    found = hits(grid, np.array([sorted(caches)]), [True] * len(caches), W)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(misses(grid, np.array([[4 * order + 1.0]]), W)[0, 0])


def test_many_at_once_equal_one_by_one() -> None:
    engine = PlanesEngine(MACHINE)
    wanted = [
        candidate(problem(*extents), threads, **blocks)
        for extents in ((96, 96, 96), (24, 800, 800), (500, 900))
        for threads in (1, 4)
        for blocks in ({}, {"j": 16}, {"i": 64})
    ]
    together = engine.predict(wanted)
    assert together == [engine.predict([each])[0] for each in wanted]
    for prediction in together:
        assert prediction.seconds is not None
        assert prediction.interval is not None
        parts = {part.kind: part.seconds for part in prediction.parts}
        assert parts.pop("sweep") == prediction.seconds
        assert sum(parts.values()) == pytest.approx(prediction.seconds)
        assert prediction.interval[1] > 1.9 * prediction.seconds


def test_a_flat_domain_gains_from_blocks_and_threads() -> None:
    engine = PlanesEngine(MACHINE)
    flat = problem(24, 1600, 1600)
    free, blocked, four = (
        found.seconds or 0.0
        for found in engine.predict(
            [candidate(flat), candidate(flat, j=32), candidate(flat, 4, j=32)]
        )
    )
    assert blocked < 0.8 * free
    assert blocked / 4 < four < blocked


def test_ranks_share_planes_as_threads_do() -> None:
    alone = candidate(problem(96, 200, 200), j=32)
    ranks = ExecutionLayout(threads=1, ranks=4, communication="neighbour")
    four = (candidate(alone.problem, 4, j=32), replace(alone, layout=ranks))
    threads, spread = (found.seconds for found in PlanesEngine(MACHINE).predict(four))
    assert threads == spread


def test_deviations_from_the_paper_are_named() -> None:
    engine = PlanesEngine(MACHINE)
    for on, threads, words in (
        (problem(96, 96, 96), 1, "no time in the core"),
        (problem(96, 96, 96), 2, "threads are not in the paper"),
        (problem(300, 300), 1, "rows take the place"),
        (problem(96, 96, 96, variable=True), 1, "coefficient arrays"),
    ):
        notes = engine.predict([candidate(on, threads)])[0].notes
        assert any(words in note for note in notes)
    assert "from MEM" in engine.predict([candidate(problem(96, 96, 96))])[0].reason


def test_a_coefficient_that_the_body_does_not_read_costs_nothing() -> None:
    plain = problem(96, 96, 96)
    idle = replace(plain, stencil=replace(plain.stencil, coefficients={"C": Num(1)}))
    found = PlanesEngine(MACHINE).predict([candidate(plain), candidate(idle)])
    assert found[0] == found[1]


def test_what_it_cannot_say_has_a_reason() -> None:
    euler = ButcherTableau(name="e", title="", order=1, A=((1.0,),), b=(1.0,), c=(1.0,), source="")
    ivp = Ivp(
        name="decay",
        title="",
        source="",
        dimension=Sym("N"),
        constants={},
        access_distance=Num(0),
        limited=True,
        regions=(Region(lower=Num(0), upper=Sym("n"), body=parse("-y[j]")),),
        initial=(Region(lower=Num(0), upper=Sym("n"), body=Num(1)),),
        stability=Num(1),
    )
    decay = Candidate(
        variant=Variant(skeleton="pirk", transformations=(), parameters={}),
        problem=Problem(ivp=ivp, method=euler, correctors=1, size=64),
    )
    mixed = PlanesEngine(UNKNOWN).predict([decay, candidate(problem(96, 96, 96))])
    assert [prediction.seconds for prediction in mixed] == [None, None]
    assert mixed[0].reason == "engine planes models stencils only"
    assert "bandwidth of MEM" in mixed[1].reason
