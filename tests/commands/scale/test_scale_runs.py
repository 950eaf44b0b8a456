"""The runs of a scaling study: columns of a table by name and formula, and regions of the runs."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from refusals import faults

from autotune.commands.scale.runs import RunSelection, runs_of, selected
from autotune.commands.scale.scale_options import ScalingColumns
from autotune.errors import InputError
from autotune.files import tables
from autotune.learning.scaling.scaling_runs import Runs

Reader = Callable[..., Runs]
TABLE = """\
ranks,nx,ny,py,pz,code,comm_ms,mean,time_s
1,10,20,1,1,a,0,-1,4
2,10,20,2,1,b,100,0,2.5
4,20,20,2,2,a,300,1,2.4
8,40,20,4,2,b,700,2,3.5
"""
COLUMNS = ScalingColumns(processors="ranks", size="nx*ny", time="time_s")


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    """The runs of ``TABLE`` for some columns."""

    def runs(columns: ScalingColumns = COLUMNS, text: str = TABLE) -> Runs:
        path = tmp_path / "runs.csv"
        path.write_text(text, encoding="utf-8")
        return runs_of(tables.read_one(path, response=columns.time), columns)

    return runs


def columns(**changed: object) -> ScalingColumns:
    values: dict[str, object] = {"processors": "ranks", "size": "nx*ny", "time": "time_s"}
    return ScalingColumns(**(values | changed))  # type: ignore[arg-type]


def test_a_size_is_arithmetic_on_columns(read: Reader) -> None:
    runs = read()
    assert runs.points.processors.tolist() == [1, 2, 4, 8]
    assert runs.points.size.tolist() == [200, 200, 400, 800]
    assert runs.time.tolist() == [4, 2.5, 2.4, 3.5]
    assert str(runs.variables.size) == "SIZE = nx*ny"
    assert str(runs.variables.processors) == "P = ranks"
    assert str(runs.variables.time) == "T = time_s [s]"


def test_the_unit_of_the_size_is_as_the_user_states_it(read: Reader) -> None:
    assert str(read(columns(size_unit="cells")).variables.size) == "SIZE = nx*ny [cells]"


def test_one_covariate_is_x_and_several_are_numbered(read: Reader) -> None:
    (one,) = read(columns(covariate=["py/pz"])).variables.covariates
    assert (one.symbol, one.formula) == ("X", "py/pz")
    two = read(columns(covariate=["py/pz", "ny"]))
    assert [v.symbol for v in two.variables.covariates] == ["X1", "X2"]
    assert [values.tolist() for values in two.points.covariates] == [[1, 2, 1, 2], [20] * 4]


def test_a_column_of_one_value_can_be_named_too(read: Reader) -> None:
    """``ny`` is 20 in every row: no parameter, and still part of a size or a condition."""
    runs = selected(read(), RunSelection(conditions=(("ny", (20,)),)))
    assert len(runs) == 4
    assert runs.treated[-1] == "4 of 4 runs: ny = 20"


def test_components_come_to_the_unit_of_the_time(read: Reader) -> None:
    runs = read(columns(communication="comm_ms"))
    assert runs.parts["communication"].tolist() == pytest.approx([0, 0.1, 0.3, 0.7])
    assert "computation" not in runs.parts


def test_components_stay_as_they_are_where_the_unit_of_the_time_is_not_stated(read: Reader) -> None:
    text = TABLE.replace("time_s", "wall")
    runs = read(columns(communication="comm_ms", time="wall"), text)
    assert runs.parts["communication"].tolist() == [0, 100, 300, 700]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"processors": "rank"}, "--processors: unknown column 'rank'.*did you mean ranks"),
        ({"processors": "code"}, "--processors: code is text: 'a'; expected a column of numbers"),
        ({"size": "nx*"}, "--size: .*expected a column, or arithmetic on columns: nx[*]ny[*]nz"),
        ({"size": "mean"}, "--size: mean = -1 in row 1; expected above zero [(]the logarithm of"),
        ({"size": "nx/(nx - 10)"}, "--size: "),
        ({"covariate": ["py", "pq"]}, "--covariate: unknown column 'pq'.*did you mean p"),
        ({"covariate": ["mean"]}, "--covariate: mean = -1 in row 1"),
        ({"computation": "comp"}, "--computation: unknown column 'comp'.*did you mean comm_ms"),
        ({"computation": "code"}, "--computation: code = a; expected times, zero or more"),
        ({"communication": "mean"}, "--communication: mean = -1; expected times, zero or more"),
    ],
)
def test_a_column_that_does_not_fit_is_told(
    read: Reader, changed: dict[str, str], words: str
) -> None:
    told = faults(lambda: read(columns(**changed)))
    assert re.match(words, told), told


def test_conditions_hold_together_and_are_counted_one_after_the_other(read: Reader) -> None:
    conditions = (("code", ("a", "b")), ("py", (2,)), ("pz", (1, 2)))
    runs = selected(read(), RunSelection(conditions=conditions))
    assert runs.points.processors.tolist() == [2, 4]
    assert list(runs.treated[-3:]) == [
        "4 of 4 runs: code = a,b",
        "2 of 4 runs: py = 2",
        "2 of 2 runs: pz = 1,2",
    ]


def test_a_condition_on_what_an_earlier_one_removed_is_refused(read: Reader) -> None:
    conditions = (("py", (4,)), ("code", ("a",)))
    told = faults(lambda: selected(read(), RunSelection(conditions=conditions)))
    assert told == "--condition: no run has code=a; expected b"


@pytest.mark.parametrize(
    ("ratio", "processors"), [(0.0, [1, 2, 4, 8]), (1.5, [2, 8]), (-1.0, [1, 4])]
)
def test_grids_of_processors_within_a_factor_of_two_of_the_ratio(
    read: Reader, ratio: float, processors: list[int]
) -> None:
    """log2(py/pz) of the four runs: 0, 1, 0, 1."""
    runs = selected(read(), RunSelection(grid=("py", "pz"), ratio=ratio))
    assert runs.points.processors.tolist() == processors
    assert runs.treated[-1] == f"{len(processors)} of 4 runs: log2(py/pz) = {ratio:g} +- 1"


def test_a_ratio_that_no_grid_has_names_those_that_there_are(read: Reader) -> None:
    told = faults(lambda: selected(read(), RunSelection(grid=("py", "pz"), ratio=8)))
    assert told == "--ratio: no run has log2(py/pz) = 8 +- 1; expected a ratio from 0 to 1"


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        (("py", "pq"), "--grid: unknown column 'pq'"),
        (("py", "code"), "--grid: code is not a number above zero everywhere"),
        (("mean", "py"), "--grid: mean is not a number above zero everywhere"),
    ],
)
def test_a_grid_is_made_of_columns_above_zero(
    read: Reader, grid: tuple[str, str], words: str
) -> None:
    assert faults(lambda: selected(read(), RunSelection(grid=grid))).startswith(words)


def test_without_a_selection_the_runs_are_as_they_were(read: Reader) -> None:
    runs = read()
    assert selected(runs, RunSelection()).treated == runs.treated


def test_a_selection_keeps_the_parts_and_the_fields_of_its_runs(read: Reader) -> None:
    whole = read(columns(communication="comm_ms"))
    runs = selected(whole, RunSelection(conditions=(("code", ("b",)),)))
    assert runs.parts["communication"].tolist() == pytest.approx([0.1, 0.7])
    assert runs.fields["code"] == ("b", "b")
    with pytest.raises(InputError, match="no run has code=a"):
        selected(runs, RunSelection(conditions=(("code", ("a",)),)))
