"""From a file of runs to the size that keeps the time: what is decided where nothing is stated."""

from dataclasses import replace
from pathlib import Path

import pytest
from refusals import faults, usage_error
from typer.testing import CliRunner

from autotune.commands.scale.command import EXAMPLE
from autotune.commands.scale.flow import ForecastRequest, ScaleRequest, scale
from autotune.commands.scale.runs import RunSelection
from autotune.commands.scale.scale_options import ScalingColumns
from autotune.learning.scaling.generation_plan import SelfGeneration, SizeGrid
from autotune.learning.scaling.scaling_answers import RegionAnswer
from autotune.learning.scaling.scaling_methods import Settings

LEVELS = (4, 8, 16, 32)
SIZES = (1e6, 2e6, 4e6)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """T = 1e-5 SIZE/P, wiggled by up to 3 %; NZ is 12 or 14 and has no effect."""
    rows = [
        f"{p},{s:g},{12 + 2 * ((i + j) % 2)},{1e-5 * s / p * (1 + 0.01 * ((3 * i + j) % 4)):.9g}"
        for i, p in enumerate(LEVELS)
        for j, s in enumerate(SIZES)
    ]
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(["P,SIZE,NZ,time_s", *rows]) + "\n", encoding="utf-8")
    return path


def request(forecast: ForecastRequest | None = None, **changed: object) -> ScaleRequest:
    values: dict[str, object] = {
        "columns": ScalingColumns(time="time_s"),
        "selection": RunSelection(),
        "forecast": forecast or ForecastRequest(to=()),
        "settings": Settings(),
    }
    return ScaleRequest(**(values | changed))  # type: ignore[arg-type]


def only(path: Path, asked: ScaleRequest) -> RegionAnswer:
    (answer,) = scale(path, asked)
    return answer


def test_the_time_to_keep_is_the_median_on_the_most_processors(runs: Path) -> None:
    answer = only(runs, request())
    top = sorted(answer.runs.time[answer.runs.at_level(32)])
    assert answer.keep == pytest.approx(top[1])
    assert answer.notes == (
        "the time to keep is the median on 32 processors; --keep names another",
    )


def test_the_forecast_is_for_twice_the_most_processors(runs: Path) -> None:
    (inverse,) = only(runs, request()).inverses
    assert inverse.processors == 64
    assert inverse.size == pytest.approx(only(runs, request()).keep * 64 / 1e-5, rel=0.05)


def test_the_size_for_a_time_is_the_law_turned_round(runs: Path) -> None:
    """SIZE = T P / 1e-5: 3.2e7 for 5 s on 64 processors, and twice that on 128."""
    asked = ForecastRequest(to=(64.0, 128.0), keep=5.0, keep_unit="s")
    answer = only(runs, request(asked))
    assert [i.size for i in answer.inverses] == pytest.approx([3.2e7, 6.4e7], rel=0.05)
    assert answer.notes == ()
    assert all(i.low < i.size < i.high for i in answer.inverses)


def test_every_size_is_forecast_on_every_number_of_processors(runs: Path) -> None:
    asked = ForecastRequest(to=(64.0, 128.0), sizes=(1e7, 2e7), keep=5.0)
    (at,) = only(runs, request(asked)).forecasts
    assert at.points.processors.tolist() == [64, 64, 128, 128]
    assert at.points.size.tolist() == [1e7, 2e7, 1e7, 2e7]
    assert at.widened.median.tolist() == at.regression.median.tolist()
    assert (at.widened.high >= at.regression.high).all()


def test_nothing_is_forecast_without_sizes(runs: Path) -> None:
    assert only(runs, request()).forecasts == ()


def test_a_covariate_has_its_median_unless_it_is_given(runs: Path) -> None:
    columns = ScalingColumns(time="time_s", covariate=["NZ"])
    answer = only(runs, request(columns=columns))
    (note,) = [note for note in answer.notes if note.startswith("NZ")]
    assert note == "NZ = 14, its median on the most processors; --given sets another value"
    stated = only(runs, request(ForecastRequest(to=(), given=(("NZ", 14.0),)), columns=columns))
    assert not [note for note in stated.notes if note.startswith("NZ")]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((("NX", 3.0),), "--given: unknown column of a covariate 'NX'; expected one of NZ, P"),
        ((("NZ", 3.0),), "--given: NZ/P without P; expected all of its columns"),
        ((("NZ", 3.0), ("P", 0.0)), "--given: "),
        ((("NZ", -3.0), ("P", 4.0)), "--given: NZ/P = -0.75; expected above zero"),
    ],
)
def test_a_covariate_that_has_no_value_is_refused(
    runs: Path, given: tuple[tuple[str, float], ...], words: str
) -> None:
    columns = ScalingColumns(time="time_s", covariate=["NZ/P"])
    asked = request(ForecastRequest(to=(), given=given), columns=columns)
    assert faults(lambda: scale(runs, asked)).startswith(words)


@pytest.mark.parametrize("keep", [0.0, -1.0, float("inf"), float("nan")])
def test_a_time_to_keep_is_above_zero_and_finite(runs: Path, keep: float) -> None:
    told = faults(lambda: scale(runs, request(ForecastRequest(to=(), keep=keep))))
    assert told == f"--keep: {keep:g}; expected a finite time above zero"


def test_seconds_are_refused_where_the_column_states_no_unit(runs: Path) -> None:
    text = runs.read_text(encoding="utf-8").replace("time_s", "wall")
    runs.write_text(text, encoding="utf-8")
    asked = ForecastRequest(to=(), keep=5.0, keep_unit="s")
    told = faults(lambda: scale(runs, request(asked, columns=ScalingColumns(time="wall"))))
    assert told == (
        "--keep: 5 s, but the unit of wall is not stated; expected a number in the unit of that"
        " column (a column called wall_s or wall_ms states it)"
    )


def test_regions_are_one_for_each_value_in_the_order_of_the_values(runs: Path) -> None:
    answers = scale(runs, request(selection=RunSelection(each="NZ")))
    assert [answer.label for answer in answers] == ["NZ = 12", "NZ = 14"]
    assert sum(len(answer.runs) for answer in answers) == len(LEVELS) * len(SIZES)


def test_an_unknown_column_of_regions_names_the_nearest(runs: Path) -> None:
    told = faults(lambda: scale(runs, request(selection=RunSelection(each="NY"))))
    assert told.startswith("--each: unknown column 'NY'; expected one of NZ, P, SIZE")
    assert told.endswith("(did you mean NZ?)")


def test_every_method_is_tried_and_the_one_used_widens_its_intervals(runs: Path) -> None:
    answer = only(runs, request(settings=Settings(method="weighted")))
    assert [method for method, _ in answer.back_tests] == [
        "complete",
        "levels",
        "focal",
        "weighted",
    ]
    assert answer.discrepancy is not None
    assert answer.discrepancy.top == 32
    (inverse,) = answer.inverses
    assert inverse.regression is not None
    assert inverse.low <= inverse.regression[0] <= inverse.regression[1] <= inverse.high


def test_a_self_generated_region_asks_and_is_not_back_tested(runs: Path) -> None:
    generation = SelfGeneration(grid=SizeGrid(base=0, step=1000))
    asked = replace(request(ForecastRequest(to=(64.0,), keep=1.0)), generation=generation)
    answer = only(runs, asked)
    assert answer.stage is not None
    assert answer.stage.points
    assert all(point.size % 1000 == 0 for point in answer.stage.points)
    assert answer.back_tests == ()
    assert answer.discrepancy is None


def test_two_numbers_of_processors_are_tested_by_nothing(runs: Path) -> None:
    selection = RunSelection(conditions=(("P", (4, 8)),))
    answer = only(runs, request(selection=selection))
    assert answer.discrepancy is None
    assert all(isinstance(test, str) for _, test in answer.back_tests)
    assert answer.inverses[0].regression is None


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    told = faults(lambda: scale(tmp_path / "none.csv", request()))
    assert told == f"{tmp_path / 'none.csv'}: cannot be read: No such file or directory"


def test_the_command_is_refused_without_a_file_and_shows_its_example() -> None:
    from autotune.commands.app import app

    assert "FILE" in usage_error("scale")
    shown = " ".join(CliRunner().invoke(app, ["scale", "--help"]).output.split())
    assert EXAMPLE in shown
