"""Small kinds of files by their readers: designs, Butcher tableaux, networks, calibrations."""

from fractions import Fraction

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_nodes import calibrated

from autotune.domain.tables.parameter_space import DesignSpace
from autotune.files.config.design_spaces import MOST, read_design
from autotune.files.config.dump import dump_calibration
from autotune.files.config.kernel_files import read_method
from autotune.files.config.measured_files import read_calibration, read_network
from autotune.files.config.session import Session


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


def read(reader, folder, text):
    path = folder / "x.yaml"
    path.write_text(text, encoding="utf-8")
    session = Session()
    value = reader(session, path)
    return value, [str(fault).replace(str(path), "x.yaml") for fault in session.faults]


# --- designs ----------------------------------------------------------------------------------


def design(folder, values, rest=""):
    text = f"schema: autotune.design/1\nparameters:\n  p: {values}\n{rest}"
    return read(read_design, folder, text)


@pytest.mark.parametrize(
    ("values", "domain"),
    [
        ("[4, 1, 2]", (1, 2, 4)), ("[0.5, 1]", (0.5, 1)), ("[b, a]", ("a", "b")),
        ('["1", "2"]', ("1", "2")), ("{from: 1, to: 9, step: 4}", (1, 5, 9)),
        ("{from: 1, to: 8, step: 4}", (1, 5)), ("{from: 3, to: 20, factor: 2}", (3, 6, 12)),
        ("{from: 0, to: 0.3, step: 0.1}", (0, 0.1, 0.2, 0.3)),
        ("{from: 1, to: 16, factor: 2}", (1, 2, 4, 8, 16)),
        ("{from: -2, to: 2, step: 2}", (-2, 0, 2)),
    ],
)  # fmt: skip
def test_a_parameter_is_a_list_or_a_range(folder, values, domain):
    space, faults = design(folder, values)
    assert faults == []
    assert space.parameters[0].values == domain


def test_a_range_without_a_step_is_any_number_in_it(folder):
    space, _ = design(folder, "{from: 1, to: 2.5}")
    (parameter,) = space.parameters
    assert parameter.continuous
    assert (parameter.low, parameter.high) == (1.0, 2.5)


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ("[]", "p: an empty list: a parameter has at least one value"),
        ("[true, 1]", "p: true is no value here: write 0 and 1, or text in quotes"),
        ("[1, a]", "p: a parameter has numbers or text as values, not both"),
        ("[1, 1.0]", "p: the number 1.0 is there twice"),
        ("[a, a]", "p: text 'a' is there twice"),
        ("[nan]", "p: text 'nan' is neither a finite number nor printable text"),
        ('["a\\tb"]', "p: text 'a\\tb' is neither a finite number nor printable text"),
        ("[null]", "p: nothing is neither a number nor text"),
        ("5", "p: the number 5 is neither a list of values nor from, to, step"),
        ("{from: 1}", "p: a range is from, to, and step or factor; from and to alone: any number"),
        ("{from: 1, to: 9, step: 1, factor: 2}", "p: a range is from, to, and step or factor"),
        ("{from: 1, to: 9, steps: 1}",
         "p: unknown key 'steps'; one of from, to, step, factor (did you mean step?)"),
        ("{from: a, to: 9}", "p: from: text 'a' is not a number"),
        ("{from: 9, to: 1}", "p: from 9 to 1 there is nothing"),
        ("{from: 1, to: 9, step: 0}", "p: step: 0 is not positive"),
        ("{from: 0, to: 1, step: 1e-9}",
         f"p: a parameter has at most {MOST} values: take a larger step"),
        ("{from: 0, to: 8, factor: 2}", "p: a factor is more than 1, and from is positive"),
        ("{from: 1, to: 8, factor: 1}", "p: a factor is more than 1, and from is positive"),
        ("{from: 1, to: 2, factor: 1.000001}",
         f"p: more than {MOST} values: take a larger factor"),
        ("{from: 1e17, to: 1.00000000000001e17, step: 1.0}", "p: step: 1.0 is lost in the digits"),
    ],
)  # fmt: skip
def test_values_that_are_no_domain_are_refused_in_words(folder, values, fault):
    space, faults = design(folder, values)
    assert space is None
    assert len(faults) == 1
    assert faults[0].split(": ", 1)[1].startswith(fault)
    assert faults[0].startswith("x.yaml:3:")


def test_constraints_name_parameters_of_the_file(folder):
    space, faults = design(folder, "[1, 2]", "constraints: [p < 2]\ntitle: t\n")
    assert faults == []
    assert (space.name, space.rules[0].holds({"p": 1})) == ("t", True)
    assert space.source.endswith("x.yaml (autotune.design/1)")
    _, faults = design(folder, "[1, 2]", "constraints: [q < 2, 'p <']\n")
    assert faults[0] == "x.yaml:4:15: unknown parameter 'q'; expected one of p"
    assert faults[1].startswith("x.yaml:4:22: ")


def test_a_space_has_parameters():
    with pytest.raises(ValueError, match="a space has parameters"):
        DesignSpace(name="s", source="f", parameters=())


@settings(max_examples=20)
@given(st.integers(-50, 50), st.integers(1, 60), st.integers(1, 9))
def test_a_range_of_whole_numbers_holds_what_its_steps_reach(folder, low, length, step):
    high = low + length
    space, faults = design(folder, f"{{from: {low}, to: {high}, step: {step}}}")
    assert faults == []
    assert space.parameters[0].values == tuple(range(low, high + 1, step))


@settings(max_examples=20)
@given(st.integers(1, 50), st.integers(1, 9))
def test_a_step_of_a_tenth_reaches_its_end(folder, count, tenths):
    high = Fraction(count * tenths, 10)
    space, faults = design(folder, f"{{from: 0, to: {float(high)!r}, step: {tenths / 10!r}}}")
    assert faults == []
    values = space.parameters[0].values
    assert len(values) == count + 1
    assert values[-1] == pytest.approx(float(high))


# --- Butcher tableaux -------------------------------------------------------------------------

TABLEAU = {
    "schema": "autotune.method/1", "title": "Radau IIA", "source": "Hairer and Wanner",
    "order": 3, "A": [["5/12", "-1/12"], ["3/4", "1/4"]], "b": ["3/4", "1/4"], "c": ["1/3", 1],
}  # fmt: skip


def tableau(folder, **change):
    return read(read_method, folder, yaml.safe_dump({**TABLEAU, **change}, sort_keys=False))


def test_a_tableau_is_read_to_the_last_digit(folder):
    method, faults = tableau(folder)
    assert faults == []
    assert method.A == ((5 / 12, -1 / 12), (0.75, 0.25))
    assert (method.c, method.order, method.stages, method.name) == ((1 / 3, 1.0), 3, 2, "x")


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        ({"c": ["1/3"]}, ["c has 1 elements; expected 2, as b has"]),
        ({"A": [["5/12", "-1/12"]]}, ["A has 1 rows; expected 2, as b has elements"]),
        ({"A": [["5/12"], ["3/4", "1/4"]]}, ["row 1 of A has 1 elements; expected 2, as b has"]),
        ({"c": ["1/2", 1]}, ["row 1 of A sums to "]),
        ({"c": ["1/2", "1/2"]}, ["row 1 of A sums to ", "row 2 of A sums to 1.0; expected c[2]"]),
        ({"order": 4}, ["order"]),
        ({"order": 0}, ["order: the number 0; expected at least 1"]),
        ({"b": ["x", "1/4"]}, ["b: unknown symbol 'x'"]),
        ({"b": ["1/0", "1/4"]}, ["b: division by zero"]),
        ({"b": ["1e999", "1/4"]}, ["b: "]),
    ],
    ids=str,
)  # fmt: skip
def test_a_tableau_that_cannot_be_is_refused_with_its_place(folder, change, faults):
    method, found = tableau(folder, **change)
    assert method is None
    assert len(found) == len(faults), found
    for text, words in zip(found, faults, strict=True):
        assert words in text
        assert text.startswith("x.yaml:")


@settings(max_examples=20)
@given(st.lists(st.fractions(0, 1, max_denominator=50), min_size=1, max_size=4))
def test_a_row_sum_is_what_counts_whatever_the_row(folder, nodes):
    stages = len(nodes)
    rows = [[str(c), *["0"] * (stages - 1)] for c in nodes]
    weights = [f"1/{stages}"] * stages
    text = {**TABLEAU, "order": 1, "A": rows, "b": weights, "c": [str(c) for c in nodes]}
    _, faults = read(read_method, folder, yaml.safe_dump(text))
    assert [fault for fault in faults if "row" in fault] == []


# --- networks and calibrations ----------------------------------------------------------------

CURVE = (
    "{operation: pingpong, benchmark: osu, nodes: 2, ranks: 2, measured: [8 B, 1 MiB],"
    " segments: [{from: 0 B, latency: 1 us, bandwidth: 1 GB/s}]}"
)


def network(folder, *curves):
    lines = "".join(f"  - {curve}\n" for curve in curves)
    return read(read_network, folder, f"schema: autotune.network/1\ncurves:\n{lines}")


def test_a_curve_that_is_there_twice_names_the_first_one(folder):
    other = CURVE.replace("ranks: 2", "ranks: 4")
    assert network(folder, CURVE, other)[1] == []
    made, faults = network(folder, CURVE, other, CURVE)
    assert made is None
    assert faults == [
        "x.yaml:5:5: a second curve for pingpong of 2 ranks on 2 nodes;"
        " expected one (first at x.yaml:3:5)"
    ]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("nodes: 2", "nodes: 3", "pingpong: 2 ranks cannot be spread evenly over 3 nodes"),
        ("from: 0 B", "from: 8 B", "pingpong: a curve needs a segment from 0 B on"),
        ("1 us", "-1 us", "pingpong: the curve falls to zero or below within its range"),
        ("[8 B, 1 MiB]", "[1 MiB, 8 B]", "are not a range"),
        ("1 GB/s", "0 GB/s", "bandwidth: '0 GB/s' is not positive"),
        ("pingpong", "pingpng", "(did you mean pingpong?)"),
        ("[8 B, 1 MiB]", "[8 B]", "measured: 1 values; expected at least 2"),
        ("[8 B, 1 MiB]", "[x]", "measured: 1 values; expected at least 2"),
        ("[8 B, 1 MiB]", "[x, 1 MiB]", "measured: 'x' is not a number with a unit of size"),
    ],
)
def test_a_curve_that_cannot_be_is_one_fault(folder, old, new, fault):
    made, faults = network(folder, CURVE, CURVE.replace(old, new, 1))
    assert made is None
    assert any(fault in text and text.startswith("x.yaml:4:") for text in faults), faults


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("L2: 0.0", "L2: 1.5", "L2: the number 1.5; expected at most 1"),
        ("L2: 0.0", "L2: -0.1", "L2: the number -0.1; expected at least 0"),
        ("size: 16 KiB", "size: 999 KiB", "working sets must ascend"),
        ("threads: 1", "threads: 0", "threads: the number 0; expected at least 1"),
    ],
)
def test_a_calibration_that_cannot_be_is_refused_with_its_place(folder, old, new, fault):
    text = dump_calibration(calibrated().calibration)
    assert old in text
    made, faults = read(read_calibration, folder, text.replace(old, new, 1))
    assert made is None
    assert any(fault in line for line in faults), faults
