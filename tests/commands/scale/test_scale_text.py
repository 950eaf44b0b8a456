"""What ``autotune scale`` prints for answers whose numbers are stated here."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from planted_scaling import variables

from autotune.commands.scale.text import region, text
from autotune.learning.models.base import Forecast
from autotune.learning.scaling.base import Band, Box, Coefficient, Deleted, Inverse, Quality
from autotune.learning.scaling.discrepancy import Discrepancy
from autotune.learning.scaling.forecast_accuracy import BackTest, Errors
from autotune.learning.scaling.generation_plan import DesignPoint, Stage
from autotune.learning.scaling.scaling_answers import BackTests, ForecastAt, RegionAnswer
from autotune.learning.scaling.scaling_methods import Settings
from autotune.learning.scaling.scaling_runs import Runs, ScalingPoints, Variables, points

RUNS = Runs(
    points=points([16, 16, 32], [1e6, 2e6, 2e6]),
    time=np.array([100.0, 205.0, 104.0]),
    variables=variables(),
)


@dataclass(frozen=True, kw_only=True)
class StatedModel:
    """A model that says what it was told: a law T = 2^-13 P^-0.9 SIZE^0.95."""

    name: str = "complete"
    variables: Variables = RUNS.variables
    coefficients: Sequence[Coefficient] = (
        Coefficient(response="T", column="1", value=-13.0, standard_error=0.5),
        Coefficient(response="T", column="log2(P)", value=-0.9, standard_error=math.nan),
    )
    quality: Sequence[Quality] = (
        Quality(response="T", count=3, r2=0.998, rmse=0.26, freedom=1, spread_freedom=1),
    )
    notes: Sequence[str] = ()
    deleted: Sequence[Deleted] = ()

    @property
    def box(self) -> Box:
        return Box.of(RUNS)

    def band(self, points: ScalingPoints, level: float) -> Band:
        raise NotImplementedError

    def inverse(
        self, processors: float, time: float, covariates: Sequence[float], level: float
    ) -> Inverse:
        raise NotImplementedError


def errors(mdape: float = 0.02, count: int = 5) -> Errors:
    return Errors(
        count=count,
        mape=0.03,
        mdape=mdape,
        least=-0.051,
        lower_quartile=-0.02,
        median=0.0,
        upper_quartile=0.02,
        most=0.12,
    )


def back_test(
    mdape: float = 0.02, count: int = 5, drift: float = 0.0, below: float = 32
) -> BackTest:
    return BackTest(
        processors=64,
        below=below,
        train=9,
        errors=errors(mdape, count),
        drift=drift,
        drift_error=0.01,
    )


def inverse(processors: float = 64, **changed: object) -> Inverse:
    values: dict[str, object] = {
        "processors": processors, "time": 100.0, "size": 4e6, "low": 3.5e6, "high": 4.6e6,
        "rule": "Fieller",
    }  # fmt: skip
    return Inverse(**(values | changed))  # type: ignore[arg-type]


def answer(tests: BackTests = (), **changed: object) -> RegionAnswer:
    values: dict[str, object] = {
        "label": "", "runs": RUNS, "keep": 100.0, "level": 0.9, "settings": Settings(),
        "model": StatedModel(), "inverses": (inverse(),), "forecasts": (), "back_tests": tests,
    }  # fmt: skip
    return RegionAnswer(**(values | changed))  # type: ignore[arg-type]


def block(of: RegionAnswer, start: str) -> list[str]:
    """The lines of the block whose first line begins so."""
    (found,) = [part for part in region(of).split("\n\n") if part.startswith(start)]
    return found.splitlines()


def test_a_region_without_back_test_in_full() -> None:
    assert region(answer()).splitlines() == [
        "3 runs on P = 16, 32; the time to keep is 100 s",
        "",
        "P = ranks; SIZE = n [cells]; T = time, in s; all as log2",
        "",
        "complete: one regression on all runs (Garren 2010, section 3.1)",
        "   column   coefficient   +-",
        "T  1                -13  0.5",
        "T  log2(P)         -0.9    -",
        "T: n = 3, R2 = 0.998, RMSE = 0.26, expected MdAPE 12.9%",
        "",
        "sizes that take 100 s (90% interval: sizes whose prediction interval holds the time, in"
        " closed form (Fieller 1954))",
        " P   SIZE    least     most",
        "64  4e+06  3.5e+06  4.6e+06",
        "warning: the intervals are of the regression alone: no back-test says how wrong it is on"
        " more processors",
    ]


def test_one_run_is_singular() -> None:
    one = RUNS.take(np.array([0]))
    assert block(answer(runs=one), "1 run")[0] == "1 run on P = 16; the time to keep is 100 s"


def test_regions_are_named_and_apart() -> None:
    shown = text([answer(label="K = 14"), answer(label="K = 16")])
    heads = [line for line in shown.splitlines() if line.startswith("K = ")]
    assert [head.partition(":")[0] for head in heads] == ["K = 14", "K = 16"]


def test_nothing_of_the_unit_is_said_where_none_is_stated() -> None:
    size = replace(RUNS.variables.size, unit="")
    time = replace(RUNS.variables.time, unit="")
    runs = replace(RUNS, variables=replace(RUNS.variables, size=size, time=time))
    lines = region(answer(runs=runs)).splitlines()
    assert lines[0].endswith("the time to keep is 100")
    assert lines[2] == (
        "P = ranks; SIZE = n; T = time (--size-unit states that of the size); all as log2"
    )


def test_a_regression_without_degrees_of_freedom_has_no_error() -> None:
    quality = Quality(response="T", count=3, r2=1.0, rmse=math.nan, freedom=0, spread_freedom=0)
    lines = block(answer(model=StatedModel(quality=(quality,))), "complete")
    assert lines[-1] == "T: n = 3, R2 = 1.000, RMSE = -"


def deleted(count: int, covariates: tuple[float, ...] = ()) -> tuple[Deleted, ...]:
    return tuple(
        Deleted(response="T", processors=16, size=1e6 + k, covariates=covariates, time=300.0)
        for k in range(count)
    )


def test_deleted_runs_are_listed_up_to_twelve() -> None:
    twelve = block(answer(model=StatedModel(deleted=deleted(12))), "complete")
    assert twelve[-12] == "deleted from T: P = 16, SIZE = 1e+06: 300 s"
    more = block(answer(model=StatedModel(deleted=deleted(15))), "complete")
    assert more[-1] == "deleted: 3 more, all of them in --json"
    assert sum(line.startswith("deleted from") for line in more) == 12


def test_a_deleted_run_has_its_covariates() -> None:
    of = answer(
        runs=replace(
            RUNS,
            points=points([16, 16, 32], [1e6, 2e6, 2e6], [[4, 4, 8]]),
            variables=variables(covariates=("NZ",)),
        ),
        model=StatedModel(deleted=deleted(1, (4.0,))),
    )
    assert block(of, "complete")[-1] == "deleted from T: P = 16, SIZE = 1e+06, X = 4: 300 s"


def test_an_interval_without_an_upper_end_is_a_dash() -> None:
    lines = block(answer(inverses=(inverse(low=0.0, high=math.inf),)), "sizes that take")
    assert lines[2].split() == ["64", "4e+06", "0", "-"]


def test_the_size_stands_in_its_own_column_too() -> None:
    runs = replace(RUNS, variables=variables("(K + 50)/60"))
    lines = block(answer(runs=runs, inverses=(inverse(size=35.0, low=30.0, high=40.0),)), "sizes")
    assert lines[1].split() == ["P", "SIZE", "least", "most", "K"]
    assert lines[2].split() == ["64", "35", "30", "40", "2050"]


def test_what_the_back_test_adds_stands_beside_the_fit_alone() -> None:
    wide = inverse(low=3e6, high=5e6, widened=0.31, regression=(3.5e6, 4.6e6), rule="band")
    of = answer(
        (("complete", back_test()),),
        inverses=(wide,),
        discrepancy=Discrepancy(error=0.05, distance=1.0, top=64),
    )
    lines = block(of, "sizes that take")
    assert lines[0].endswith("where its bounds take it)")
    assert lines[1].split() == ["P", "SIZE", "least", "most", "fit", "least", "fit", "most"]
    assert lines[2].split() == ["64", "4e+06", "3e+06", "5e+06", "3.5e+06", "4.6e+06"]
    assert lines[3].startswith(
        "widened by the back-test: log2 error 0.05 on P = 64, one doubling beyond its runs;"
    )
    assert "+-0.31 at P = 64 in log2 of the time" in lines[3]


def test_no_word_on_widening_where_the_forecast_is_within_the_runs() -> None:
    lines = block(answer(inverses=(inverse(processors=32),)), "sizes that take")
    assert len(lines) == 3


def test_warnings_name_their_processors_where_there_are_several() -> None:
    alone = block(answer(inverses=(inverse(notes=("far out",)),)), "sizes that take")
    assert alone[-1] == "warning: far out"
    both = (inverse(notes=("far out",)), inverse(processors=128, notes=("farther",)))
    lines = block(answer(inverses=both), "sizes that take")
    assert lines[-2:] == ["warning: P = 64: far out", "warning: P = 128: farther"]


def test_forecast_times_have_their_unit_and_are_marked_where_extrapolated() -> None:
    forecast = Forecast(
        median=np.array([50.0, 101.25]),
        low=np.array([40.0, 80.0]),
        high=np.array([60.0, np.inf]),
        outside=np.array([False, True]),
    )
    at = ForecastAt(points=points([32, 64], [1e6, 4e6]), widened=forecast, regression=forecast)
    lines = block(answer(forecasts=(at,), level=0.8), "times of single runs")
    assert lines == [
        "times of single runs in s, 80% intervals",
        " P   SIZE   time  least  most",
        "32  1e+06     50     40    60",
        "64  4e+06  101.2     80     -  extrapolated",
    ]


def test_back_tests_are_a_table_and_the_method_used_is_marked() -> None:
    tests: BackTests = (
        ("complete", back_test(0.02, drift=0.1)),
        ("levels", "3 numbers of processors are too few"),
        ("focal", back_test(0.015)),
    )
    lines = block(answer(tests), "back-test")
    assert lines == [
        "back-test: runs on P = 64 forecast from those on fewer, (predicted - observed)/observed",
        "method      MdAPE  MAPE  least    most  drift  n",
        "complete *   2.0%  3.0%  -5.1%  +12.0%  +7.2%  5",
        "focal        1.5%  3.0%  -5.1%  +12.0%  +0.0%  5",
        "  levels: not tried: 3 numbers of processors are too few",
    ]


def test_methods_that_could_not_be_tried_say_why() -> None:
    lines = block(answer((("complete", "2 numbers of processors"),)), "no method could")
    assert lines == [
        "no method could be tried on known runs:",
        "  complete: not tried: 2 numbers of processors",
    ]


def test_a_back_test_far_worse_than_the_fit_is_a_surprise() -> None:
    """Expected: 2^(0.6745 * 0.26) - 1 = 12.9 %; a surprise is more than twice that."""
    assert "warning" not in "\n".join(block(answer((("complete", back_test(0.25)),)), "back-test"))
    assert block(answer((("complete", back_test(0.27)),)), "back-test")[-1] == (
        "warning: the known runs were forecast 27.0% off, the fit lets expect 12.9%: its law does"
        " not hold; believe the widened intervals, if any"
    )


@pytest.mark.parametrize(
    ("drift", "words"),
    [(-0.5, "too short by 29.3% (mean): expect the sizes above to be too large"),
     (0.5, "too long by 41.4% (mean): expect the sizes above to be too small")],
)  # fmt: skip
def test_the_drift_says_which_way_the_sizes_are_wrong(drift: float, words: str) -> None:
    lines = block(answer((("complete", back_test(drift=drift)),)), "drift:")
    assert lines[0].startswith(f"drift: complete forecast the known runs on P = 64 {words}")


def test_a_drift_within_its_scatter_is_not_told() -> None:
    assert "drift:" not in region(answer((("complete", back_test(drift=0.019)),)))


def test_the_method_used_is_recommended_where_it_is_best() -> None:
    lines = block(answer((("complete", back_test()),)), "recommended")
    assert lines == [
        "recommended: complete, which was used: least error in the back-test, 2.0% from 5 runs on"
        " P = 64, one doubling beyond its runs; that is no proof farther out"
    ]


def test_a_better_method_is_named_as_an_option() -> None:
    tests: BackTests = (("complete", back_test(0.05)), ("focal", back_test(0.02, 1, below=16)))
    (line,) = block(answer(tests), "recommended")
    assert line.startswith(
        "recommended: --method focal (complete, which was used: 5.0%): least error in the"
        " back-test, 2.0% from 1 run on P = 64, 2 doublings beyond its runs"
    )


def test_a_method_that_could_not_be_tried_is_not_compared() -> None:
    tests: BackTests = (("complete", "too few"), ("focal", back_test()))
    (line,) = block(answer(tests), "recommended")
    assert "--method focal (complete, which was used: could not be tried)" in line


def test_notes_and_warnings_are_told_in_one_block() -> None:
    of = answer(
        runs=replace(RUNS, treated=("3 of 4 runs: K = 1",)),
        model=StatedModel(notes=("all rows count",)),
        notes=("T0 is the median",),
        warnings=("is its unit right?",),
    )
    assert block(of, "note:") == [
        "note: 3 of 4 runs: K = 1",
        "note: T0 is the median",
        "note: all rows count",
        "warning: is its unit right?",
    ]


def asked(column: float | None = None, expected: float | None = 101.0) -> DesignPoint:
    return DesignPoint(processors=32, size=1166.0, column=column, expected=expected, why="above T0")


def test_a_stage_lists_the_runs_to_make() -> None:
    stage = Stage(name="bracket", points=(asked(), asked(expected=None)), notes=("two levels",))
    of = answer(stage=stage, model=None, inverses=())
    assert region(of).split("\n\n")[2].splitlines() == [
        "self-generated focal region, bracket: run these, add them, ask again",
        " P     n  expected  why",
        "32  1166       101  above T0",
        "32  1166         -  above T0",
        "note: two levels",
    ]


def test_a_stage_asks_in_the_column_of_the_size() -> None:
    runs = replace(RUNS, variables=variables("(K + 50)/60"))
    stage = Stage(name="recentre", points=(asked(column=2050.0),))
    lines = region(answer(runs=runs, stage=stage, model=None)).split("\n\n")[2].splitlines()
    assert lines[1].split() == ["P", "K", "expected", "why"]
    assert lines[2].split()[:2] == ["32", "2050"]


def test_a_complete_stage_lists_what_would_check_it() -> None:
    stage = Stage(name="forecast", points=(asked(),))
    shown = region(answer(stage=stage))
    assert "complete; runs that would check the forecast:" in shown
    assert "complete: one regression on the runs\n" in shown
