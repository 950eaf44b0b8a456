"""Plots: round ticks within the axis, marks where their values are, links to rows."""

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.domain.metric import Metric
from autotune.results.page import plot, plot_axes
from autotune.results.page.plot import (
    Dot,
    LaneLabel,
    Lanes,
    Plot,
    PlotSegment,
    Polyline,
    RuleLine,
    Whisker,
)
from autotune.results.report.draw import study_plots

SPANS = st.tuples(st.floats(1e-9, 1e6), st.floats(1.001, 1e6)).map(lambda p: (p[0], p[0] * p[1]))


@pytest.mark.parametrize(
    ("low", "high", "values"),
    [(0.9, 1100, [1, 10, 100, 1000]), (1, 20, [1, 2, 5, 10, 20]), (1, 4, [1, 1.5, 2, 3])],
)
def test_round_values_lie_between_the_limits(low, high, values):
    assert plot_axes.round_values(low, high) == pytest.approx(values)


@given(SPANS)
def test_ticks_are_within_the_axis_and_few(span):
    for axis in (
        plot_axes.logarithmic("t", span, "{:g}".format),
        plot_axes.linear("t", span, "{:g}".format),
    ):
        places = [axis.share(value) for value, _ in axis.ticks]
        assert len(places) <= 9
        assert places == sorted(places)
        assert all(axis.low * 0.999 <= value <= axis.high * 1.001 for value, _ in axis.ticks)
        assert 0 < axis.share(span[0]) < axis.share(span[1]) < 1


RATE = Metric("rate", "GFLOP/s", "more")


def drawn(axis):
    """The text elements of a plot with this upright axis, and its marks."""
    x = plot_axes.linear("x", (0, 1), str)
    marks = [Dot(x=0, y=value, paint="p1") for value, _ in axis.ticks]
    tree = ET.fromstring(plot.draw(Plot(name="n", x=x, y=axis, marks=marks)))
    return list(tree.iter("text")), list(tree.iter("circle"))


@pytest.mark.parametrize("scale", [plot_axes.linear, plot_axes.logarithmic])
def test_an_axis_of_a_rate_has_round_rates_more_is_higher_and_its_unit_once(scale):
    axis = study_plots.metric_axis(scale, RATE, (1 / 2.1, 1 / 5.2))
    labels = [label for _, label in axis.ticks]
    assert set(labels) >= {"3", "4", "5"} if scale is plot_axes.linear else {"3", "5"}
    assert axis.title == "rate [GFLOP/s]"
    texts, dots = drawn(axis)
    assert [t.text for t in texts if "GFLOP" in t.text] == ["rate [GFLOP/s]"]
    heights = [float(dot.attrib["cy"]) for dot in dots]
    assert heights == sorted(heights, reverse=True)


def test_no_label_of_an_upright_axis_is_cut_off_on_a_phone():
    axis = plot_axes.logarithmic("speed", (1e9, 9e9), lambda v: f"{v / 1e9:.3f} GFLOP/s")
    texts, _ = drawn(axis)
    for text in texts:
        if text.text in {label for _, label in axis.ticks}:
            assert float(text.attrib["x"]) >= 9.9 * len(text.text)


def test_ticks_of_memory_are_round_in_its_unit():
    axis = plot_axes.linear("m", (4.5 * 2**20, 7 * 2**20), lambda v: f"{v / 2**20:g}", unit=2.0**20)
    assert {label for _, label in axis.ticks} >= {"5", "6", "7"}


@pytest.mark.parametrize("values", [(1.0,), (1.0, 1.0), (0.0, 0.0), ()])
def test_an_axis_of_one_value_or_none_is_drawn(values):
    axis = plot_axes.linear("x", values, str)
    assert axis.low < axis.high


@pytest.mark.parametrize("sizes", [(4096.0,), (12288.0, 12288.0)])
def test_one_size_lies_within_its_axis(sizes):
    axis = plot_axes.powers_of_two("size", sizes)
    assert axis.share(sizes[0]) == pytest.approx(0.5)
    assert [value for value, _ in axis.ticks] == [s for s in sizes if s == 4096.0]


def test_a_linked_mark_leads_to_its_row_and_hostile_names_stay_text():
    drawing = plot.draw(
        Plot(
            name='<a> "b"',
            x=plot_axes.linear("x & y", (0, 1), str),
            y=Lanes((LaneLabel("<evil>", "p2", "row-7"), LaneLabel("b"))),
            marks=[
                Dot(x=0.5, y=0, paint="winner", shape="star", anchor="row-1", words="<b>"),
                Dot(x=0.5, y=1, paint="idle", shape="cross"),
                PlotSegment(start=0, end=0.5, lane=1, paint="p1", hatched=True, words="1 ms"),
                Whisker(low=0.1, high=0.9, at=1, paint="ink"),
                RuleLine(at=0.5, paint="ink", upright=True, words="half"),
                Polyline(points=((0, 0), (1, 1)), paint="p1", stepped=True),
            ],
        )
    )
    tree = ET.fromstring(drawing)
    assert tree.attrib["aria-label"] == '<a> "b"'
    assert {a.attrib["href"] for a in tree.iter("a")} == {"#row-1", "#row-7"}
    assert "<evil>" in {t.text for t in tree.iter("text")}
    titles = {t.text for t in tree.iter("title")}
    assert titles == {"<b>", "1 ms"}


def test_values_beyond_the_axis_lie_at_its_end():
    axis = plot_axes.PlotAxis(title="", low=1, high=10, log=True)
    assert (axis.share(0.001), axis.share(99)) == (0, 1)


def test_colours_come_from_the_style():
    x, y = plot_axes.linear("x", (0, 1), str), plot_axes.linear("y", (0, 1), str)
    text = plot.draw(Plot(name="n", x=x, y=y, marks=[Dot(x=0, y=0, paint="p1")]))
    assert not re.search(r"#[0-9a-f]{3,6}|style=", text)
