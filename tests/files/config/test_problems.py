"""The problems of a study: which family, how large, and what is said where they cannot be."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from program_samples import read, written

from autotune.domain.problem import AnyProblem, Problem, ProgramProblem, StencilProblem
from autotune.files import config
from autotune.files.config.facts import FORMS, FactReader
from autotune.files.config.problems import complete_problem
from autotune.files.config.session import Session
from autotune.files.parsing import yaml_document


def completed(line, program=None):
    """The problem that a line states, and the faults."""
    session = Session()
    document = yaml_document.compose(f"problems: [{line}]\n", Path("s.yaml"), session.faults)
    assert document is not None, session.faults
    reader = FactReader(session, document)
    stated = FORMS[AnyProblem].read(reader, document.root["problems"][0], ("problems", 0))
    made = None
    if not reader.broken:
        made = complete_problem(session, document, 0, stated, program)
    return made, [str(fault) for fault in session.faults]


def good(line, program=None):
    made, faults = completed(line, program)
    assert faults == []
    return made


@pytest.mark.parametrize(
    ("line", "kind", "label"),
    [
        ("{ivp: heat2d, method: radau-iia-7, size: 64}", Problem, "heat2d-N64"),
        ("{stencil: star3d-7pt, size: 96}", StencilProblem, "star3d-7pt-N96"),
    ],
)
def test_the_keys_of_a_problem_say_its_family(line, kind, label):
    made = good(line)
    assert isinstance(made, kind)
    assert made.label == label


def test_the_correctors_of_a_method_are_its_order_less_one_unless_they_are_stated():
    line = "{ivp: heat2d, method: radau-iia-7, size: 64%s}"
    assert good(line % "").correctors == config.method("radau-iia-7").order - 1
    assert good(line % ", correctors: 2").correctors == 2


def test_an_explicit_method_has_no_correctors():
    line = "{ivp: heat2d, method: dormand-prince-5, size: 64%s}"
    problem = good(line % "")
    assert problem.correctors == 0
    assert problem.facts().words.startswith(
        "N = 64, n = 4096 components, dormand-prince-5, h = 0.1"
    )
    assert problem.facts().id == "heat2d dormand-prince-5 h0.1"
    _, faults = completed(line % ", correctors: 4")
    assert faults == [
        "s.yaml:1:74: correctors: 4, and dormand-prince-5 is explicit; expected no correctors: only"
        " the stages of implicit methods are iterated"
    ]


def test_a_size_is_the_points_of_each_dimension_of_a_grid():
    assert good("{stencil: star3d-7pt, size: 9}").extents == (9, 9, 9)
    grid = good("{stencil: star3d-7pt, grid: {i: 5, k: 7, j: 6}}")
    assert grid.extents == (7, 6, 5)  # k, j, i: the order of the dimensions
    assert good("{stencil: star3d-7pt, grid: {k: 9, j: 9, i: 9}}") == good(
        "{stencil: star3d-7pt, size: 9}"
    )


@settings(max_examples=15)
@given(st.tuples(*[st.integers(1, 500)] * 3))
def test_a_grid_may_have_any_points_in_each_dimension(extents):
    k, j, i = extents
    assert good(f"{{stencil: star3d-7pt, grid: {{i: {i}, j: {j}, k: {k}}}}}").extents == extents


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{stencil: star3d-7pt}", "s.yaml:1:12: neither grid nor size is given; expected one of"
         " grid: {i: 96, j: 96, k: 96} and size: 96"),
        ("{stencil: star3d-7pt, size: 9, grid: {i: 9, j: 9, k: 9}}",
         "s.yaml:1:12: both grid and size; expected one of grid: {i: 96, j: 96, k: 96} and"
         " size: 96"),
        ("{stencil: star3d-r4, size: 3}",
         "s.yaml:1:39: size: 3 points are fewer than the radius of star3d-r4; expected at least 4"),
        ("{stencil: star3d-r4, grid: {i: 9, j: 3, k: 9}}",
         "s.yaml:1:49: j: 3 points are fewer than the radius of star3d-r4; expected at least 4"),
        ("{stencil: star3d-7pt, grid: {i: 9, j: 9}}",
         "s.yaml:1:34: grid: no points of k; expected each of k, j, i"),
        ("{stencil: star3d-7pt, grid: {i: 9, j: 9, k: 9, l: 9}}",
         "s.yaml:1:59: grid: star3d-7pt has no dimension 'l'; expected one of k, j, i"),
        ("{stencil: star3d-7pt, size: 0}",
         "s.yaml:1:40: size: the number 0; expected at least 1"),
        ("{stencil: star3d-8pt, size: 9}",
         "s.yaml:1:22: unknown stencil 'star3d-8pt'; expected one of box2d-9pt"),
        ("{ivp: heat2d, method: radau-iia-7, size: 1}",
         "s.yaml:1:53: size: 1 is below the smallest size of heat2d; expected at least "),
        ("{ivp: heat4d, method: radau-iia-7, size: 64}",
         "s.yaml:1:18: unknown ivp 'heat4d'; expected one of "),
        ("{ivp: heat2d, size: 64}", "s.yaml:1:12: the key 'method' is missing"),
        ("{ivp: heat2d, method: radau-iia-7, sice: 64}",
         "unknown key 'sice'; expected one of "),
        ("{ivp: heat2d, method: radau-iia-7, size: 64, step_fraction: 0}", "step_fraction: "),
        ("5", "the number 5; expected keys and values"),
    ],
)  # fmt: skip
def test_a_problem_that_cannot_be_is_refused_with_its_place(line, fault):
    _, faults = completed(line)
    assert any(fault in text for text in faults), faults


def test_the_nearest_names_are_offered():
    _, faults = completed("{stencil: star3d-8pt, size: 9}")
    assert faults[0].endswith("(did you mean star3d-7pt?)")
    _, faults = completed("{ivp: heat2, method: radau-iia-7, size: 9}")
    assert faults[0].endswith("(did you mean heat2d?)")


# --- programs ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return read(written(tmp_path_factory.mktemp("program"), ""))


def test_the_arguments_that_a_problem_leaves_out_are_those_of_the_program(program):
    made = good("{arguments: {n: 9}}", program)
    assert isinstance(made, ProgramProblem)
    assert made.arguments == {"n": 9}
    assert good("{arguments: {}}", program).arguments == {"n": 512}


def test_an_argument_that_the_program_does_not_take_is_named(program):
    made, faults = completed("{arguments: {m: 9}}", program)
    assert made is None
    assert len(faults) == 1
    assert faults[0].startswith("s.yaml:1:25: unknown argument 'm'; expected one of n")


def test_a_size_of_a_program_is_a_positive_number(program):
    made, faults = completed("{arguments: {n: 0}}", program)
    assert made is None
    assert faults == ["s.yaml:1:12: n is the problem size: from 1 to 2**53, not 0"]
    assert completed("{arguments: {n: 9}}") == (None, [])
