"""The self-generated focal region: its stages on Garren's points and on a planted program."""

import numpy as np
import planted_scaling as made
import pytest

from autotune.errors import InputError
from autotune.learning.scaling import self_generated
from autotune.learning.scaling.generation_plan import (
    GenerationPlan,
    SelfGeneration,
    SizeGrid,
    lower_levels,
)
from autotune.learning.scaling.scaling_runs import Runs, points
from autotune.learning.scaling.variables import Variable

BT = [
    (1166, 1024, 116.00), (1060, 1024, 101.10), (954, 1024, 69.34),
    (935, 484, 124.34), (850, 484, 101.98), (765, 484, 69.16),
    (334, 16, 169.47), (304, 16, 125.29), (273, 16, 90.05),
    (428, 36, 155.57), (389, 36, 117.12), (350, 36, 84.30),
    (511, 64, 148.58), (464, 64, 110.09), (418, 64, 82.49),
    (586, 100, 145.86), (533, 100, 108.77), (479, 100, 78.81),
    (782, 256, 134.39), (711, 256, 100.26), (639, 256, 74.86),
]  # fmt: skip
CG = [
    (1570, 512, 88.57), (1810, 512, 99.23), (1930, 512, 112.47),
    (1870, 1024, 88.90), (2050, 1024, 99.21), (2230, 1024, 112.66),
    (790, 16, 893.75), (850, 16, 978.63), (910, 16, 1061.35),
    (850, 32, 377.75), (910, 32, 426.86), (970, 32, 477.80),
    (940, 64, 261.49), (970, 64, 275.17), (1000, 64, 288.74),
    (850, 128, 94.81), (910, 128, 105.44), (970, 128, 113.35),
    (1330, 256, 135.29), (1390, 256, 139.16), (1450, 256, 150.91),
]  # fmt: skip
LOWER = (16, 36, 64, 100, 256)
BT_PLAN = GenerationPlan(time=101.0, processors=1936, runs=SelfGeneration(lower=LOWER))


def runs(rows, formula="n"):
    variables = made.variables(formula)
    sizes = [variables.size.value({"n": row[0]}) for row in rows]
    return Runs(
        points=points([row[1] for row in rows], sizes),
        time=np.array([row[2] for row in rows]),
        variables=variables,
    )


def asked(stage):
    return {(point.processors, point.column) for point in stage.points}


def test_two_known_runs_are_bracketed_as_in_table_4_8():
    stage = self_generated.next_stage(runs([BT[1], BT[4]]), BT_PLAN)
    assert stage.name == "bracket"
    assert asked(stage) == {(1024, 954), (1024, 1166), (484, 765), (484, 935)}


def test_the_lower_sizes_are_those_of_table_4_9():
    stage = self_generated.next_stage(runs(BT[:6]), BT_PLAN)
    assert stage.name == "lower levels"
    printed = {(row[1], row[0]) for row in BT[6:]}
    found = asked(stage)
    assert {p for p, _ in found} == set(LOWER)
    for p, size in found:
        assert min(abs(size - s) for q, s in printed if q == p) <= 1
    assert stage.model is not None


def test_twenty_one_runs_make_the_printed_regression_and_a_forecast():
    stage = self_generated.next_stage(runs(BT), BT_PLAN)
    assert stage.name == "forecast"
    assert stage.model.regression.coefficients == pytest.approx([-13.36, -0.95, 2.92], abs=0.005)
    assert [point.expected for point in stage.points] == pytest.approx(
        [80.8, 90.9, 101.0, 111.1, 121.2]
    )


def test_cg_is_asked_to_recentre_where_the_source_says_it_should_have_been():
    """ "the times are not anywhere near the seconds we want, except for P = 128" """
    generation = SelfGeneration(around="time", grid=SizeGrid(base=10, step=60))
    plan = GenerationPlan(time=100.0, processors=2048, runs=generation)
    stage = self_generated.next_stage(runs(CG, "(n + 50)/60"), plan)
    assert stage.name == "recentre"
    assert {p for p, _ in asked(stage)} == {16, 32, 64, 256}
    assert len(asked(stage)) == 12
    assert all((size - 10) % 60 == 0 for _, size in asked(stage))
    assert stage.model.regression.coefficients == pytest.approx([4.41, -1.06, 2.45], abs=0.005)


def test_a_session_on_a_planted_program_reaches_its_size():
    """Run what is asked until nothing is: the program bends, so some levels are recentred."""

    def program(p, n):
        return 2.0 ** (-13 - 0.9 * np.log2(p) + 0.95 * np.log2(n)) * (1 + (p / 1024) ** 2)

    rows = [(2.0**22.5, 1024, program(1024, 2.0**22.5))]
    plan = GenerationPlan(time=float(rows[0][2]), processors=2048)
    stages = []
    for _ in range(8):
        stage = self_generated.next_stage(runs(rows), plan)
        stages.append(stage.name)
        if stage.name == "forecast":
            break
        rows += [(p.column, p.processors, program(p.processors, p.column)) for p in stage.points]
    assert stages[:4] == ["bracket", "second level", "bracket", "lower levels"]
    assert stages[-1] == "forecast"
    for level in {row[1] for row in rows}:
        times = [row[2] for row in rows if row[1] == level]
        assert min(times) <= plan.time <= max(times)


def test_levels_below_the_known_ones():
    assert lower_levels(1024, 512) == (256, 128, 64, 32, 16)
    assert lower_levels(1024, 484) == (256, 144, 64, 36, 16)  # chapter 1 of the source
    assert lower_levels(96, 48) == (24, 12, 6, 3, 2)
    assert lower_levels(2, 1) == ()


def test_a_level_near_the_one_that_would_be_asked_for_stands_for_it():
    plan = GenerationPlan(time=101.0, processors=1936)
    assert self_generated.next_stage(runs(BT), plan).name == "forecast"


def test_sizes_fall_on_those_that_the_program_can_have():
    assert SizeGrid(base=10, step=60).nearest(3.0) == 10
    assert SizeGrid(step=8).nearest(3.0) == 8
    with pytest.raises(ValueError, match="positive"):
        SizeGrid(step=0)


def test_what_cannot_be_planned_is_refused():
    only = runs(BT[:3])
    with pytest.raises(InputError, match="no run on fewer than 512"):
        self_generated.next_stage(only, GenerationPlan(time=101.0, processors=512))
    from dataclasses import replace

    more = replace(
        only,
        points=replace(only.points, covariates=(np.ones(3),)),
        variables=replace(only.variables, covariates=(Variable(symbol="X", formula="NZ"),)),
    )
    with pytest.raises(InputError, match="more than processors and size"):
        self_generated.next_stage(more, BT_PLAN)
