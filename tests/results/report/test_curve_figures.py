"""Cost curves as numbers and as SVG: which lines there are, and that the file stands alone."""

import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.domain.cost_curve import CostCurve, CurvePoint, Segment
from autotune.domain.network import Network
from autotune.results.report.cost_curves import BEYOND, panels
from autotune.results.report.draw import draw_curves, search_plots, svg
from autotune.results.report.draw.svg import figure_svg
from autotune.results.report.figure_records import ShownCandidate
from autotune.results.report.search_records import Convergence, SearchStep

PAIR = CostCurve(
    operation="pingpong", benchmark="osu", nodes=2, ranks=2, measured=(8, 1 << 20),
    segments=(
        Segment(lower=0, latency=1e-6, bandwidth=1e9),
        Segment(lower=8192, latency=2e-6, bandwidth=2e9),
    ),
    residual=(0.9, 1.2),
    points=(CurvePoint(8, 1e-6), CurvePoint(1024, 2e-6)),
)  # fmt: skip
BARRIER = CostCurve(
    operation="barrier", benchmark="autotune", nodes=1, ranks=4, measured=(0, 0),
    segments=(Segment(lower=0, latency=3e-6),),
)  # fmt: skip


def only(curve):
    (panel,) = panels(Network(curves=(curve,)))
    return panel


# --- numbers ----------------------------------------------------------------------------------


def test_a_panel_names_its_operation_ranks_nodes_and_benchmark():
    assert only(PAIR).title == "pingpong, 2 ranks on 2 nodes (osu)"
    assert only(BARRIER).title == "barrier, 4 ranks on 1 node (autotune)"


def test_a_barrier_is_a_level_without_a_size():
    panel = only(BARRIER)
    assert not panel.has_size
    (line,) = panel.lines
    assert line.seconds == (3e-6, 3e-6)
    assert not line.extrapolated
    assert panel.breakpoints == ()


def test_a_curve_is_drawn_piece_by_piece_and_beyond_its_sizes_as_extrapolated():
    panel = only(PAIR)
    assert panel.has_size
    assert panel.breakpoints == (8192.0,)
    assert panel.points == ((8.0, 1e-6), (1024.0, 2e-6))
    spans = [
        (line.size[0], pytest.approx(line.size[-1]), line.extrapolated) for line in panel.lines
    ]
    assert spans == [
        (2.0, 8.0, True), (8.0, 8192.0, False), (8192.0, 1 << 20, False),
        (1 << 20, BEYOND * (1 << 20), True),
    ]  # fmt: skip


def test_the_points_of_a_line_are_those_of_its_segment():
    first = only(PAIR).lines[1]
    for size, seconds in zip(first.size, first.seconds, strict=True):
        assert seconds == pytest.approx(1e-6 + size / 1e9)
    last = only(PAIR).lines[2]
    assert last.seconds[0] == pytest.approx(2e-6 + 8192 / 2e9)


def test_the_band_is_the_residual_interval_around_the_line():
    for line in only(PAIR).lines:
        for seconds, low, high in zip(line.seconds, line.low, line.high, strict=True):
            assert (low, high) == (pytest.approx(0.9 * seconds), pytest.approx(1.2 * seconds))


@given(st.integers(0, 1 << 16), st.integers(0, 1 << 20))
def test_lines_join_and_rise_along_the_size(low, more):
    curve = CostCurve(
        operation="allgather", benchmark="osu", nodes=2, ranks=4, measured=(low, low + more),
        segments=(Segment(lower=0, latency=1e-6, bandwidth=1e9),),
    )  # fmt: skip
    lines = only(curve).lines
    assert lines
    for line in lines:
        assert list(line.size) == sorted(line.size)
        assert list(line.seconds) == sorted(line.seconds)
    for before, after in pairwise(lines):
        assert before.size[-1] == pytest.approx(after.size[0])


# --- figures ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def curves():
    return draw_curves.svg(panels(Network(curves=(PAIR, BARRIER))), "cost & <curves>")


def texts(figure):
    root = ET.fromstring(figure)
    return [element.text for element in root.iter() if element.tag.endswith("text")], root


def test_a_figure_of_curves_has_its_titles_and_its_legend(curves):
    said, root = texts(curves)
    assert "pingpong, 2 ranks on 2 nodes (osu)" in said
    assert {"fitted", "extrapolated", "pieces change", "median of the samples"} <= set(said)
    assert said.count("fitted") == 1
    title = next(element for element in root.iter() if element.tag.endswith("title"))
    assert title.text == "cost & <curves>"


def test_a_figure_alone_is_an_svg_file_with_a_white_background(curves):
    whole = svg.alone(curves)
    assert whole.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<svg ')
    root = ET.fromstring(whole.encode())
    box = root.attrib["viewBox"].split()
    background = next(iter(root))
    assert background.attrib["fill"] == "white"
    assert [background.attrib[k] for k in ("x", "y", "width", "height")] == box


def test_a_page_says_that_it_decides_nothing_and_escapes_its_words():
    page = draw_curves.page("<b> & c", "<svg></svg>", "a < b\n")
    assert "<title>&lt;b&gt; &amp; c - autotune</title>" in page
    assert "No decision: costs of communication" in page
    assert "<code>a &lt; b\n</code>" in page
    assert page.count("<svg></svg>") == 1
    assert page.startswith("<!DOCTYPE html>")


def test_the_same_figure_is_the_same_text_with_ids_of_its_own():
    def paint(figure):
        figure.add_subplot().plot([1, 2], [1, 2], "o")

    first, again, other = (figure_svg(paint, (2.0, 1.0), "f", caption) for caption in "aab")
    assert first == again
    ids, others = (
        {element.attrib["id"] for element in ET.fromstring(text).iter() if "id" in element.attrib}
        for text in (first, other)
    )
    assert not ids & others, "figures of one page share no id"


def step(number, measured, best):
    return SearchStep(
        evaluation=number,
        seconds=10.0 * number,
        shown=ShownCandidate(f"c{number}", "measured", f"row-c{number}"),
        measured=measured,
        best=best,
    )


def test_a_search_is_shown_with_what_failed_and_what_was_foretold():
    record = Convergence(
        steps=(step(1, 2e-3, 2e-3), step(2, None, 2e-3), step(3, 1e-3, 1e-3)),
        predicted=(2e-3, 1.5e-3), baseline=3e-3,
    )  # fmt: skip
    figure = search_plots.course(record, "candidates", "caption", "of x")
    said = {entry.words for entry in figure.legend}
    assert said >= {"other candidates", "failed", "best so far"}
    assert "best so far in the predicted order" in said
    links = [a.attrib["href"] for a in ET.fromstring(figure.drawing).iter("a")]
    assert sorted(links) == ["#row-c1", "#row-c2", "#row-c3"]
    over_time = search_plots.course(record, "seconds", "caption", "of x")
    assert "best so far in the predicted order" not in {e.words for e in over_time.legend}


def test_winner_and_baseline_are_told_apart_by_their_names():
    assert str(ShownCandidate("a", "winner")) == "a (winner)"
    assert str(ShownCandidate("a", "baseline")) == "a (baseline)"
    assert str(ShownCandidate("a", "measured")) == "a"


def test_a_figure_names_what_it_shows_and_scales_with_the_page():
    figure = figure_svg(lambda figure: figure.add_subplot(), (2.0, 1.0), "name", 'say "it"')
    root = ET.fromstring(figure)
    assert root.attrib["role"] == "img"
    assert root.attrib["style"].startswith("max-width:")
    assert "width" not in root.attrib
    assert "<metadata" not in figure
    assert "<style" not in figure


def test_a_figure_follows_the_colours_of_its_page_and_keeps_them_alone(curves):
    assert "fill: var(--ink,#222222)" in curves.replace("fill:var", "fill: var")
    assert "var(--grid,#dddddd)" in curves
    assert "#222222" in svg.alone(curves)
    assert "var(" not in svg.alone(curves)
