"""The options of ``autotune scale``: what each asks for, and how a wrong value is refused."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import bad_parameter, usage_error

from autotune.commands.scale.flow import ForecastRequest
from autotune.commands.scale.runs import RunSelection
from autotune.commands.scale.scale_options import (
    ForecastOptions,
    GenerationOptions,
    MethodOptions,
    ScaleOptions,
    ScalingColumns,
    SelectionOptions,
)
from autotune.learning.scaling.generation_plan import SelfGeneration, SizeGrid
from autotune.learning.scaling.scaling_methods import Settings


def scale_options(**values: object) -> ScaleOptions:
    """Options as the command line fills them in when only the file is given."""
    groups: dict[str, object] = {
        "file": "runs.csv",
        "columns": ScalingColumns(),
        "runs": SelectionOptions(),
        "forecasts": ForecastOptions(),
        "model": MethodOptions(),
        "generated": GenerationOptions(),
    }
    return ScaleOptions(**(groups | values))  # type: ignore[arg-type]


def test_without_options_all_runs_are_selected_and_nothing_is_stated() -> None:
    request = scale_options().request()
    assert request.selection == RunSelection()
    assert request.forecast == ForecastRequest(to=(), level=0.9)
    assert request.settings == Settings()
    assert request.generation is None


def test_the_confidence_is_the_level_of_all_intervals() -> None:
    assert scale_options(confidence="99.5 %").request().forecast.level == pytest.approx(0.995)


def test_a_self_generated_region_is_one_regression_and_a_plan() -> None:
    model = MethodOptions(method="self-generated")
    generated = GenerationOptions(spread="5%", around="time", lower="16, 8", size_grid="10:60")
    request = scale_options(model=model, generated=generated).request()
    assert request.settings.method == "complete"
    assert request.generation == SelfGeneration(
        spread=0.05, around="time", lower=(16.0, 8.0), grid=SizeGrid(base=10.0, step=60.0)
    )


def test_a_wrong_plan_is_refused_even_where_the_method_makes_none() -> None:
    generated = GenerationOptions(spread="110 %")
    assert bad_parameter(scale_options(generated=generated).request) == (
        "--spread: '110 %' is not below 100 %"
    )


def test_the_lower_levels_are_left_to_the_plan_unless_they_are_named() -> None:
    assert GenerationOptions().generation() == SelfGeneration()
    assert GenerationOptions(lower="  ").generation().lower is None


def test_the_settings_of_a_method_come_from_its_options() -> None:
    options = MethodOptions(
        method="focal",
        components="never",
        rest="none",
        tolerance="30 %",
        nearest=4,
        width=".25",
        near_by="measured",
        level_weight=0.5,
        keep_influential=True,
    )
    assert options.settings() == Settings(
        method="focal",
        apart="never",
        rest="none",
        tolerance=0.3,
        nearest=4,
        width=0.25,
        basis="measured",
        ratio=0.5,
        delete=False,
    )


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("K=3", ("K", (3,))),
        (" K = 3 ", ("K", (3,))),
        ("K=3,4.5,five", ("K", (3, 4.5, "five"))),
        ("name=a=b", ("name", ("a=b",))),
        ("K=1e3", ("K", (1000.0,))),
    ],
)
def test_a_condition_is_a_column_and_its_values(
    text: str, condition: tuple[str, tuple[object, ...]]
) -> None:
    assert SelectionOptions(condition=[text]).selection().conditions == (condition,)


def test_conditions_stay_in_their_order() -> None:
    selection = SelectionOptions(condition=["b=1", "a=2"], each="c").selection()
    assert [name for name, _ in selection.conditions] == ["b", "a"]
    assert selection.each == "c"


def test_the_grid_of_processors_is_two_columns() -> None:
    selection = SelectionOptions(grid=" PY, PZ ", ratio=1.5).selection()
    assert (selection.grid, selection.ratio) == (("PY", "PZ"), 1.5)
    assert SelectionOptions().selection().grid is None


@pytest.mark.parametrize(
    ("text", "keep", "unit"),
    [
        ("100", 100.0, ""),
        ("1e-3", 0.001, ""),
        ("100 s", 100.0, "s"),
        ("20 ms", 0.02, "s"),
        ("3 us", 3e-6, "s"),
        ("2 min", 120.0, "s"),
    ],
)
def test_the_time_to_keep_is_in_seconds_where_it_has_a_unit(
    text: str, keep: float, unit: str
) -> None:
    request = ForecastOptions(keep=text).request(0.9)
    assert request.keep == pytest.approx(keep)
    assert request.keep_unit == unit


def test_what_is_forecast_is_named_between_commas() -> None:
    request = ForecastOptions(to="64, 128", at="1e6", given=["NZ = 14", "PX=2"]).request(0.8)
    assert request == ForecastRequest(
        to=(64.0, 128.0), sizes=(1e6,), given=(("NZ", 14.0), ("PX", 2.0)), level=0.8
    )


@settings(max_examples=25)
@given(st.lists(st.floats(min_value=1e-300, max_value=1e300), min_size=1, max_size=5))
def test_numbers_are_read_to_the_last_digit(values: list[float]) -> None:
    request = ForecastOptions(to=",".join(map(repr, values))).request(0.9)
    assert request.to == tuple(values)


WRONG_FORECASTS = [
    ({"to": "many"}, "--to: 'many' is not a number"),
    ({"to": "64,"}, "--to: '' is not a number"),
    ({"to": "0"}, "--to: 0 is not above zero"),
    ({"to": "-2"}, "--to: -2 is not above zero"),
    ({"at": "1e999"}, "--at: 1e999 is not a finite number"),
    ({"at": "nan"}, "--at: nan is not a finite number"),
    ({"given": ["NZ"]}, "--given: 'NZ' is not NAME=VALUE"),
    ({"given": ["=3"]}, "--given: '=3' is not NAME=VALUE"),
    ({"given": ["NZ="]}, "--given: '' is not a number"),
    ({"given": ["NZ=three"]}, "--given: 'three' is not a number"),
    (
        {"keep": "100 miles"},
        "--keep: 'miles' is not a unit of time: one of s, ms, us, µs, ns, ps, min, h",
    ),
    (
        {"keep": "soon"},
        "--keep: 'soon' is not a number with a unit of time: one of s, ms, us, µs, ns, ps, min, h",
    ),
]


@pytest.mark.parametrize(("values", "words"), WRONG_FORECASTS)
def test_a_forecast_that_cannot_be_read_is_refused(values: dict[str, str], words: str) -> None:
    options = ForecastOptions(**values)  # type: ignore[arg-type]
    assert bad_parameter(lambda: options.request(0.9)) == words


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"condition": ["K"]}, "--condition: 'K' is not NAME=VALUE,..."),
        ({"condition": ["=3"]}, "--condition: '=3' is not NAME=VALUE,..."),
        ({"condition": ["K= "]}, "--condition: 'K= ' is not NAME=VALUE,..."),
        ({"condition": ["K=1,,2"]}, "--condition: 'K=1,,2' is not NAME=VALUE,..."),
        ({"grid": "PY"}, "--grid: 'PY' is not two columns: PY,PZ"),
        ({"grid": "PY,"}, "--grid: 'PY,' is not two columns: PY,PZ"),
        ({"grid": "A,B,C"}, "--grid: 'A,B,C' is not two columns: PY,PZ"),
    ],
)
def test_a_selection_that_cannot_be_read_is_refused(values: dict[str, str], words: str) -> None:
    options = SelectionOptions(**values)  # type: ignore[arg-type]
    assert bad_parameter(options.selection) == words


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"tolerance": "wide"}, "--tolerance: 'wide' is not a share: 5 %"),
        ({"tolerance": "-5 %"}, "--tolerance: '-5 %' is not a share: 5 %"),
        ({"tolerance": "0 %"}, "--tolerance: '0 %' is not above zero"),
        ({"width": "0"}, "--width: '0' is not above zero"),
        ({"width": "5 % of it"}, "--width: '5 % of it' is not a share: 5 %"),
    ],
)
def test_a_region_without_breadth_is_refused(values: dict[str, str], words: str) -> None:
    options = MethodOptions(**values)  # type: ignore[arg-type]
    assert bad_parameter(options.settings) == words


@pytest.mark.parametrize(
    "text", ["10", "10:", ":x", "a:b", "0:0", "0:-1", "0:nan", "0:inf", "inf:1", "nan:1", ""]
)
def test_a_grid_of_sizes_has_a_base_and_a_step(text: str) -> None:
    options = GenerationOptions(size_grid=text)
    assert bad_parameter(options.generation) == (
        f"--size-grid: {text!r} is not BASE:STEP, finite numbers with a step above zero"
    )


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("runs.csv", "--to", "many"), ("--to", "'many' is not a number")),
        (("runs.csv", "--confidence", "100 %"), ("--confidence", "'100 %' is not below 100 %")),
        (("runs.csv", "--method", "focl"), ("--method", "'focl'", "'focal'", "'weighted'")),
        (("runs.csv", "--components", "yes"), ("--components", "'always'")),
        (("runs.csv", "--nearest", "0"), ("--nearest", "1")),
        (("runs.csv", "--level-weight", "2"), ("--level-weight", "1")),
        (("runs.csv", "--ratio", "wide"), ("--ratio",)),
        (("runs.csv", "more.csv"), ("more.csv",)),
        ((), ("FILE",)),
    ],
)
def test_the_command_line_ends_with_code_2(words: tuple[str, ...], parts: tuple[str, ...]) -> None:
    told = usage_error("scale", *words)
    assert [part for part in parts if part not in told] == []


def test_the_share_of_the_default_spread_is_a_tenth() -> None:
    assert math.isclose(GenerationOptions().generation().spread, 0.1)
