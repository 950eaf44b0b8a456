"""From what was explored to a map: few contenders, bounds between the cells, twins, drawing."""

import json
import math

import made_maps
import numpy as np
import pytest
from documented import documented

from autotune.commands.map.document import MapDocument
from autotune.domain.decision_map import Contender, DecisionMap
from autotune.domain.variant import Build
from autotune.files import codec
from autotune.results.maps import figure as maps_figure
from autotune.results.maps import text
from autotune.tuning.maps import losses, merge
from autotune.tuning.maps.explore import Aim, Explorer
from autotune.tuning.maps.finish import Facts, finish
from autotune.tuning.maps.map_posterior import MapObservations
from autotune.tuning.maps.map_prior import Cells, MapPrior

CELLS = Cells(sizes=(64, 128, 256, 512), threads=(1, 2))
LEGAL = np.ones((3, 8), dtype=bool)


def charted(explorer: Explorer, stopped: str = "enough") -> DecisionMap:
    cells = explorer.prior.cells
    count = len(explorer.prior.mean)
    contenders = [
        Contender(label=f"v{k}", variant=f"v{k}", parameters={"k": k}, build=Build())
        for k in range(count)
    ]
    facts = Facts(
        label="made",
        title="a <made> map",
        size_name="N",
        engine="",
        contenders=tuple(contenders),
        left_out=0,
        problems=tuple(f"made-N{cells.at(c)[0]}" for c in range(len(cells))),
        n=tuple(cells.at(c)[0] ** 2 for c in range(len(cells))),
        candidates=[[f"{k}-{c}" for c in range(len(cells))] for k in range(count)],
        failed={(1, 0): "crashed"},
    )
    return finish(explorer, facts, stopped)


@pytest.fixture(scope="module")
def chart() -> DecisionMap:
    made = made_maps.truth(3, contenders=4, sizes=5)
    return charted(made_maps.explored(made, 12)[0])


def test_few_contenders_are_within_the_tolerance_and_seldom_change() -> None:
    mean = np.zeros((3, 8))
    mean[0, 4:] = 0.2
    mean[1, :4] = 0.2
    mean[1, 3] = -0.001  # better by nothing to speak of, in one cell
    mean[2] = 0.04
    few = merge.merged(CELLS, mean, LEGAL, 0.05)
    assert set(few.tolist()) == {2}, "one is enough"
    strict = merge.merged(CELLS, mean, LEGAL, 0.01)
    assert strict.reshape(4, 2).T.tolist() == [[0, 0, 1, 1], [0, 1, 1, 1]], (
        "within 1 % of the least"
    )


def test_few_contenders_are_legal() -> None:
    legal = LEGAL.copy()
    legal[0, 0] = False
    assert merge.merged(CELLS, np.zeros((3, 8)), legal, 0.05)[0] != 0


def test_between_two_cells_the_bound_is_that_of_the_interpolated_times() -> None:
    """0 is faster by 0.2 at 64 and slower by 0.4 at 128: half way by 0.1."""
    draws = np.zeros((4, 2, 2))
    draws[:, 0] = -0.2, 0.4
    legal = np.ones((2, 2), dtype=bool)
    found = losses.between(np.array([0, 1]), draws, legal, 1, 0.95)
    assert found == pytest.approx([math.expm1(0.1), 0.0])
    assert losses.between(np.array([0]), draws[:, :, :1], legal[:, :1], 1, 0.95) == [0.0]
    legal[0, 1] = False
    assert losses.between(np.array([0, 1]), draws, legal, 1, 0.95).tolist() == [0.0, 0.0]


def test_only_who_was_measured_is_named(chart: DecisionMap) -> None:
    measured = {k for cell in chart.cells for k in cell.measured}
    assert {cell.winner.contender for cell in chart.cells} <= measured
    assert set(chart.kept) <= measured
    assert sum(bool(cell.measured) for cell in chart.cells) < len(chart.cells)


def test_losses_bounds_and_chances_belong_together(chart: DecisionMap) -> None:
    for cell in chart.cells:
        assert 0 <= cell.winner.loss <= cell.winner.bound
        assert 0 <= cell.probability <= 1
        assert cell.second != cell.winner.contender
    assert chart.whole.mean <= chart.whole.mean_bound <= chart.whole.max_bound
    assert chart.price[1] <= chart.tolerance + 1e-9
    assert chart.cells[0].failed == {1: "crashed"}


def test_an_entry_bounds_the_loss_half_way_to_the_next_size(chart: DecisionMap) -> None:
    for cell, entry in zip(chart.cells, chart.entries(), strict=True):
        assert entry.bound == max(cell.merged.bound, cell.merged.between)
        assert entry.measured == (cell.merged.contender in cell.measured)
    winners = [entry.candidate for entry in chart.entries(few=False)]
    assert winners == [cell.winner.candidate for cell in chart.cells]


def test_the_nearest_size_counts_by_ratio(chart: DecisionMap) -> None:
    first, second = chart.sizes[:2]
    middle = math.sqrt(first * second)
    assert chart.at(int(middle) - 1, 1).size == first
    assert chart.at(int(middle) + 1, 1).size == second
    assert chart.at(1, 64).threads == 2
    spans = [(first, last) for threads, first, last, _ in chart.regions() if threads == 1]
    assert (spans[0][0], spans[-1][1]) == (chart.sizes[0], chart.sizes[-1])


def test_a_twin_stands_for_a_contender_that_is_not_legal() -> None:
    """1 is the program of 0 at the smallest size and the faster one at the others: it is enough."""
    cells = Cells(sizes=(64, 128), threads=(1,))
    mean = np.array([[0.0, 1.0], [0.0, 0.0]])
    made = MapPrior(
        cells=cells,
        mean=mean,
        shifts=np.zeros((2, 2, 0)),
        independent=np.full((2, 2), 0.02),
        traits=np.eye(2),
        legal=np.array([[True, True], [False, True]]),
        twin=np.array([[0, 0], [0, 1]]),
        predicted=True,
    )
    explorer = Explorer(made, Aim())
    explorer.tell([MapObservations(0, 0, 0.0, 0.01, 0), MapObservations(1, 1, 0.0, 0.01, 1)])
    chart = charted(explorer)
    assert [cell.winner.contender for cell in chart.cells] == [0, 1]
    assert [cell.merged.contender for cell in chart.cells] == [1, 1]
    assert chart.cells[0].merged.candidate == "1-0"
    assert chart.cells[0].merged.seconds == chart.cells[0].winner.seconds


def test_the_text_says_what_is_lost_and_what_was_measured(chart: DecisionMap) -> None:
    told = text.text([chart], "s")
    assert f"Measured: {chart.evaluations} of {chart.pairs} pairs" in told
    assert "ended because enough" in told
    assert "Failed in some cells: v1" in told
    assert ("Shipping" in told) == (not chart.same)
    assert "Between the cells the nearest N counts" in told


def test_the_document_names_contenders(chart: DecisionMap) -> None:
    made = MapDocument(study="s", store="r.sqlite", maps=(chart,))
    document = json.loads(json.dumps(codec.document(made), allow_nan=False))
    documented(document, MapDocument, "map")
    (row,) = document["maps"]
    assert len(row["cells"]) == len(chart.cells)
    for cell, shown in zip(chart.cells, row["cells"], strict=True):
        winner = row["contenders"][shown["winner"]["contender"]]
        assert winner["label"] == chart.contenders[cell.winner.contender].label
        assert winner["label"].startswith("v")


def test_the_drawing_has_a_dot_where_a_named_one_was_measured(chart: DecisionMap) -> None:
    drawn = maps_figure.svg(chart, "Decision map")
    assert drawn.lstrip().startswith("<svg")
    assert "fastest with less than 90 %" in drawn
    for contender in {*chart.kept, *chart.winners}:
        assert f"  v{contender} (" in drawn
    assert ("enough: expected" in drawn) == (not chart.same)
