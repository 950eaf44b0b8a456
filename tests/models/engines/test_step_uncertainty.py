"""How unsure ECM times are: the terms that make the time, by the doubts of engine reuse."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from codegen_build import problem, variant
from hypothesis import given
from hypothesis import strategies as st
from sample_nodes import documented

from autotune.domain.machine import Machine
from autotune.domain.results import Uncertainty
from autotune.domain.variant import Build, Candidate, ExecutionLayout
from autotune.models.engines.kerncraft.node_stretches import StretchTiming
from autotune.models.engines.kerncraft.step_uncertainty import (
    TimedStep,
    interval,
    step_uncertainty,
)
from autotune.models.engines.reuse.case_evaluation import Evaluator
from autotune.models.engines.reuse.uncertainty import (
    LEVEL_FILE,
    LEVEL_UNVERIFIED,
    REGIMES,
    Z80,
)

LEVELS = ("L2", "L3", "MEM")
Row = tuple[float, float, float, float, float, float]
"""T_OL, T_nOL, L2, L3, MEM and the seconds of a stretch."""
SERIAL: Row = (1, 2, 1, 1, 4, 8)
SATURATED: Row = (1, 2, 1, 1, 10, 10)
IN_CORE: Row = (9, 2, 1, 1, 4, 9)


def unsure(
    *rows: Row,
    on: Machine | None = None,
    threads: int = 1,
    rough: Sequence[bool] = (),
    barriers: float = 0.0,
) -> Uncertainty:
    T_OL, T_nOL, *transfers, seconds = np.array(rows, dtype=float).T
    terms = np.stack([T_OL, T_nOL, *transfers])
    timing = StretchTiming(
        levels=LEVELS,
        seconds=seconds,
        T_OL=T_OL,
        T_nOL=T_nOL,
        transfers=np.stack(transfers, axis=1),
        full=np.minimum(terms.max(axis=0), seconds),
        serial=np.maximum(terms[1:].sum(axis=0), seconds),
        saturation=np.full(len(rows), math.inf),
    )
    step = TimedStep(
        timing=timing,
        rough=rough or [False] * len(rows),
        barriers=barriers,
        seconds=float(seconds.sum()) + barriers,
    )
    candidate = Candidate(
        variant=variant(),
        problem=problem("wave1d", 1000),
        build=Build(),
        layout=ExecutionLayout(threads=threads),
    )
    return step_uncertainty(Evaluator(on or documented()), candidate, step)


def test_a_saturated_memory_makes_the_time_as_unsure_as_its_bandwidth() -> None:
    shared = unsure(SATURATED).shared
    assert shared["MEM"] == pytest.approx(LEVEL_FILE)
    assert "L2" not in shared
    assert "core" not in shared
    doubtful = replace(documented(), sources={"memory.single": "a guess (unverified)"})
    assert unsure(SATURATED, on=doubtful).shared["MEM"] == pytest.approx(LEVEL_UNVERIFIED)


def test_terms_in_a_row_count_by_their_shares() -> None:
    shared = unsure(SERIAL).shared
    assert shared["MEM"] == pytest.approx(LEVEL_FILE * 4 / 8)
    assert shared["L2"] == pytest.approx(LEVEL_FILE / 8)
    assert shared["core"] == pytest.approx(0.1 / Z80 * 2 / 8)
    regime = REGIMES["unmeasured"]
    assert shared["unmeasured"] == pytest.approx(6 / 8 * regime.sigma * math.sqrt(regime.common))


def test_work_in_the_core_is_as_unsure_as_its_route() -> None:
    exact, rough = (unsure(IN_CORE, rough=[told]) for told in (False, True))
    assert exact.shared["core"] == pytest.approx(0.1 / Z80)
    assert rough.shared["core"] == pytest.approx(0.3 / Z80)
    assert rough.independent > exact.independent
    assert "MEM" not in exact.shared


def test_the_overlap_that_a_file_guesses_spans_from_all_to_none() -> None:
    """From the memory's 4 to the sum of 8."""
    made: Row = (1, 2, 1, 1, 4, 5)
    low, high = 4 / 5, 8 / 5
    spread = max(math.log(high), -math.log(low))
    assert unsure(made).shared["overlap"] == pytest.approx(spread / Z80)


def test_threads_and_barriers_add_their_own() -> None:
    alone, four = unsure(SERIAL), unsure(SERIAL, threads=4, barriers=8.0)
    assert "threads" not in alone.shared
    assert four.shared["threads"] > 0
    assert four.shared["barrier"] == pytest.approx(0.7 / 2)
    bare = replace(documented(), barrier=None)
    assert unsure(tuple(1e-6 * v for v in SERIAL), threads=4, on=bare).shared["no barrier"] > 0  # type: ignore[arg-type]


@given(st.lists(st.sampled_from([SERIAL, SATURATED, IN_CORE]), min_size=1, max_size=4))
def test_an_interval_holds_the_time_and_is_never_certain(rows: list[Row]) -> None:
    found = unsure(*rows)
    low, high = interval(3.0, found)
    assert low * high == pytest.approx(9.0)
    assert high / 3.0 == pytest.approx(math.exp(Z80 * found.sigma))
    assert found.sigma > REGIMES["model"].sigma / 2
