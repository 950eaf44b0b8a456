"""The decision of a map on a page: what to ship, how sure that is, and where it is open."""

from dataclasses import replace

from autotune.domain.decision_map import Choice, Contender, DecisionMap, MapCell, Summary
from autotune.domain.variant import Build
from autotune.results.maps.map_cards import card, decision
from autotune.results.maps.text import summary

LITTLE = Summary(mean=0.01, mean_bound=0.02, max_bound=0.04)


def cell(size: int, *, probability: float = 0.95, measured: bool = True) -> MapCell:
    choice = Choice(contender=0, candidate="c", seconds=1e-3, loss=0.01, bound=0.04)
    return MapCell(
        size=size, n=size, threads=2, problem=f"heat2d-N{size}", winner=choice,
        probability=probability, second=None, merged=choice,
        measured={0: 1e-3} if measured else {}, failed={},
    )  # fmt: skip


def chart(*cells: MapCell, whole: Summary = LITTLE) -> DecisionMap:
    contender = Contender(
        label="jli", variant="jli", parameters={}, build=Build(compiler="gcc", flags=("-O3",))
    )
    return DecisionMap(
        label="heat2d", title="heat", size_name="N", engine="reuse", level=0.9, tolerance=0.05,
        contenders=(contender, replace(contender, label="lji")), left_out=0,
        sizes=tuple(c.size for c in cells), threads=(2,), cells=cells, whole=whole, merged=whole,
        price=(0.0, 0.0), evaluations=len(cells), pairs=2 * len(cells), stopped="told to",
    )  # fmt: skip


def test_a_bounded_loss_is_a_decision() -> None:
    made = decision(chart(cell(64), cell(128)), "mapped", "map")
    assert (made.state, made.verdict, made.link) == ("decided", "jli everywhere", "map")
    assert [number.value for number in made.numbers] == ["1 %", "4 %", "2 of 2", "2 of 2"]
    assert "unsure" not in made.sure
    assert made.lines[0].line == "autotune export mapped"


def test_two_candidates_are_chosen_by_size() -> None:
    other = replace(cell(128), merged=replace(cell(128).merged, contender=1))
    made = decision(chart(cell(64), other), "mapped", "map")
    assert made.verdict == "2 candidates, by N and threads"
    assert made.detail == "jli, lji"


def test_a_loss_that_is_not_bounded_is_no_decision() -> None:
    wide = replace(LITTLE, max_bound=0.2)
    made = decision(chart(cell(64, probability=0.5), whole=wide), "mapped", "map")
    assert (made.state, made.verdict) == ("open", "No decision yet; most likely jli everywhere")
    assert "The winner is unsure at N = 64 with T = 2." in made.sure
    assert "until no cell may lose more than 5 %" in made.advice


def test_predictions_alone_decide_nothing() -> None:
    made = decision(chart(cell(64, measured=False)), "mapped", "map")
    assert made.state == "open"
    assert "Nothing was measured" in made.advice


def test_pairs_are_counted_once_however_often_they_were_visited() -> None:
    visited = replace(chart(cell(64), cell(128)), evaluations=9)
    words = "Measured: 2 of 4 pairs of candidate and cell (50 %) in 9 visits, in 2 of 2 cells"
    assert any(sentence.startswith(words) for sentence in summary(visited))


def test_the_card_says_what_to_run_where() -> None:
    figure, listing = card(chart(cell(64), cell(128))).blocks
    assert figure.kind == "figure"
    assert [c.text for c in listing.rows[0].cells] == ["jli", "64 to 128", "2"]
