import itertools
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.domain.tables.table import MeasurementTable, ParameterRows, categorical, numeric
from autotune.errors import InputError
from autotune.learning.models.terms import CONSTANT, log2, power
from autotune.learning.pmnf import EXPONENTS, FittedPmnf, Pmnf, search
from autotune.learning.pmnf.one_parameter import FALLING
from autotune.learning.pmnf.several_parameters import forms, line

EXTRAP = Path(__file__).parents[3] / "shared" / "data" / "learned" / "extrap"
POINTS = np.array([2.0, 4, 8, 16, 32])


def table(rows, repetitions, names="pqr") -> MeasurementTable:
    """Rows of numbers and the repetitions of each."""
    columns = list(zip(*rows, strict=True))
    parameters = tuple(numeric(names[i], column) for i, column in enumerate(columns))
    measured = tuple(tuple(np.atleast_1d(values).tolist()) for values in repetitions)
    return MeasurementTable(
        name="made",
        inputs=ParameterRows(parameters=parameters, rows=tuple(map(tuple, rows))),
        response=np.array([np.mean(values) for values in measured]),
        repetitions=measured,
    )


def grown(law, points=(2.0, 4, 8, 16, 32), noise=0.0, seed=0, repeat=1) -> MeasurementTable:
    chance = np.random.default_rng(seed)
    rows = [(p,) for p in points]
    return table(rows, [law(p) * (1 + noise * chance.normal(size=repeat)) for p in points])


def asked(*values, name="p") -> ParameterRows:
    return ParameterRows(parameters=(numeric(name, values),), rows=tuple((v,) for v in values))


# --- the search -------------------------------------------------------------------------------


def test_there_are_42_pairs() -> None:
    assert len(set(EXPONENTS)) == 42
    assert {pair.log for pair in EXPONENTS} == {0, 1, 2}
    assert max(pair.power for pair in EXPONENTS) == 3


@pytest.mark.parametrize("pair", EXPONENTS)
@pytest.mark.parametrize("constant", [200.0, 0.0])
def test_every_planted_pair_is_found(pair, constant: float) -> None:
    found = search(POINTS, constant + 10 * pair.of(POINTS))
    assert found.exponents == pair
    assert (found.constant, found.slope) == pytest.approx((constant, 10), abs=1e-6)
    assert found.figures.smape == pytest.approx(0, abs=1e-6)


def test_a_constant_stays_one() -> None:
    found = search(POINTS, np.full(5, 124.68))
    assert (found.exponents, found.figures.ar2) == (None, 1)
    assert found.constant == pytest.approx(124.68)


def test_a_contribution_below_the_least_is_none() -> None:
    assert search(POINTS, 1000 + 1e-3 * POINTS).exponents is None


def test_no_logarithms_below_one() -> None:
    points = np.array([0.25, 0.5, 1, 2, 4])
    found = search(points, 10 + points)
    assert found.exponents == (Fraction(1), 0)
    assert search(points, 30 + np.log2(points)).exponents != (Fraction(0), 1)


def test_a_constant_judged_like_the_others_loses_sooner() -> None:
    chance = np.random.default_rng(5)
    points = np.array([16.0, 32, 64, 128, 256])
    better = 0
    for _ in range(40):
        values = (100 / points + 0.05 * np.log2(points)) * (1 + 0.01 * chance.normal(size=5))
        strict = search(points, values).exponents is None
        fair = search(points, values, EXPONENTS + FALLING, constant_left_out=True).exponents is None
        better += strict and not fair
    assert better > 20


# --- several parameters -----------------------------------------------------------------------


@pytest.mark.parametrize("step", [0, 9, 20, 33])
@pytest.mark.parametrize("shape", ["product", "sum", "product and first"])
def test_two_planted_terms_are_combined(step: int, shape: str) -> None:
    first, second = EXPONENTS[step], EXPONENTS[step + 5]
    rows = np.array(list(itertools.product(POINTS, POINTS)))
    a, b = first.of(rows[:, 0]), second.of(rows[:, 1])
    laws = {"product": 10 * a * b, "sum": 10 * a + 20 * b, "product and first": a + a * b}
    found = Pmnf().fit(table(rows.tolist(), 200 + laws[shape]))
    assert found.figures.smape == pytest.approx(0, abs=1e-4)
    assert found.terms[CONSTANT] == pytest.approx(200, rel=1e-4)
    names = {"product": 1, "sum": 2, "product and first": 2}
    assert len(found.terms) == 1 + names[shape]


def test_three_planted_terms_are_combined() -> None:
    rows = np.array(list(itertools.product(POINTS, repeat=3)))
    x, y, z = rows.T
    found = Pmnf().fit(table(rows.tolist(), 200 + 10 * x * np.log2(y) + 3 * z**1.5))
    assert found.terms == {
        CONSTANT: pytest.approx(200),
        frozenset({power("p"), log2("q")}): pytest.approx(10),
        frozenset({power("r", "3/2")}): pytest.approx(3),
    }


def test_a_parameter_without_effect_has_no_term() -> None:
    rows = list(itertools.product(POINTS.tolist(), POINTS.tolist()))
    found = Pmnf().fit(table(rows, [10 + 2 * p for p, _ in rows]))
    assert found.terms == {CONSTANT: pytest.approx(10), frozenset({power("p")}): pytest.approx(2)}
    flat = Pmnf().fit(table(rows, [7.0] * len(rows)))
    assert flat.terms == {CONSTANT: pytest.approx(7)}
    assert flat.predict(asked_two(64, 64)).median == pytest.approx([7])


def asked_two(p, q) -> ParameterRows:
    return ParameterRows(parameters=(numeric("p", [p]), numeric("q", [q])), rows=((p, q),))


def test_the_forms_of_three_parameters() -> None:
    found = forms((0, 1, 2))
    assert len({frozenset(form) for form in found}) == 23
    assert {len(form) for form in found} == {1, 2, 3}


def test_a_line_is_the_mean_over_the_longest_lines_through_the_first_point() -> None:
    lines = {1: (1, 2, 4), 2: (1, 2, 4), 3: (2, 4, 8), 9: (9,)}
    points = np.array([(x, y) for y, found in lines.items() for x in found], float)
    values = np.arange(10.0) + 1
    coordinates, means = line(points, values, 0)
    assert coordinates.tolist() == [1, 2, 4]
    assert means.tolist() == [2.5, 3.5, 4.5]


# --- Extra-P ----------------------------------------------------------------------------------


def extrap(name: str) -> FittedPmnf:
    """One of Extra-P's own inputs, fitted."""
    if not (EXTRAP / name).exists():
        pytest.skip(f"optional: {EXTRAP / name} is not here")
    lines = (EXTRAP / name).read_text().splitlines()
    names = [text.split()[1] for text in lines if text.startswith("PARAMETER")]
    found = re.findall(r"\(([^)]*)\)", " ".join(t for t in lines if t.startswith("POINTS")))
    data = [[float(v) for v in t.split()[1:]] for t in lines if t.startswith("DATA")]
    rows = [tuple(map(float, text.split())) for text in found]
    return Pmnf().fit(table(rows, data[: len(rows)], names))


def test_one_parameter_to_the_digits_of_extra_p() -> None:
    """``tests/test_console.py`` of Extra-P 4: -0.88979340... + 0.20168243... * x^(2)."""
    found = extrap("one_parameter_1.txt")
    constant, slope = found.terms.values()
    assert f"{constant:.12f}"[:11] == "-0.88979340"
    assert f"{slope:.12f}"[:10] == "0.20168243"
    assert list(found.terms) == [CONSTANT, frozenset({power("x", 2)})]
    assert f"{found.figures.rss:.2E}" == "3.43E+01"
    assert f"{found.figures.ar2:.2E}" == "1.00E+00"


def test_the_worked_example_to_the_digits_of_extra_p() -> None:
    """The input of Extra-P's quick start, as Extra-P 4.2.5 models it."""
    found = extrap("input.txt")
    assert list(found.terms) == [CONSTANT, frozenset({power("p", "5/4"), log2("p")})]
    assert list(found.terms.values()) == pytest.approx(
        [2.8183276094059617, 0.48270031135124886], rel=1e-12
    )
    figures = found.figures
    assert (figures.smape, figures.rss, figures.re) == pytest.approx(
        (2.188510467212657, 61.84267244963793, 0.021757251002366126), rel=1e-11
    )
    assert figures.rrss == pytest.approx(0.002673284932777428, rel=1e-11)
    assert figures.ar2 == pytest.approx(0.9995579359278263, rel=1e-13)


def test_two_parameters_to_the_digits_of_extra_p() -> None:
    """``tests/test_output.py`` of Extra-P 4."""
    found = extrap("two_parameter_1.txt")
    assert list(found.terms) == [
        CONSTANT,
        frozenset({log2("y")}),
        frozenset({power("x", "3/2"), log2("x", 2), log2("y")}),
    ]
    assert list(found.terms.values()) == pytest.approx(
        [1.3742083125, 6.698080399, 0.043841655290], rel=1e-9
    )
    assert found.figures.rss == pytest.approx(312.47721968273464, rel=1e-10)
    assert found.figures.smape == pytest.approx(6.6446408501203775, rel=1e-10)
    assert found.figures.re == pytest.approx(0.07834117602, abs=1e-11)
    assert found.formula == (
        "time = 1.3742 + 6.6981 * log2(y) + 0.043842 * x^(3/2) * log2(x)^2 * log2(y)"
    )


# --- intervals and warnings -------------------------------------------------------------------


def test_beyond_the_points_the_interval_spans_the_models_that_fit_as_well() -> None:
    made = grown(lambda p: 0.5 + 0.01 * p, [16, 32, 64, 128, 256], noise=0.05, seed=3)
    found = Pmnf().fit(made)
    forecast = found.predict(asked(64, 4096))
    width = forecast.high / np.maximum(forecast.low, 1e-9)
    assert forecast.outside.tolist() == [False, True]
    assert width[1] > 2 * width[0]
    assert forecast.notes[0].startswith("p = 4096 is 16 times beyond the points seen (16 to 256)")
    assert not found.predict(asked(64)).notes
    assert any("other models fit about as well" in note for note in found.explain().notes)


def test_planted_laws_are_covered_far_out() -> None:
    """16 times beyond five points of 5 % noise, where Extra-P's median error is 20 %."""
    laws = (lambda p: 0.5 + 0.01 * p, lambda p: 2 + 0.3 * np.log2(p))
    covered = []
    for seed, law in itertools.product(range(15), laws):
        found = Pmnf().fit(grown(law, [16, 32, 64, 128, 256], noise=0.05, seed=seed))
        forecast = found.predict(asked(4096))
        covered.append(forecast.low[0] <= law(4096) <= forecast.high[0])
    assert np.mean(covered) >= 0.8


def test_the_interval_grows_with_its_level() -> None:
    found = Pmnf().fit(grown(lambda p: 3 + p, noise=0.02, seed=1))
    narrow, wide = (found.predict(asked(4, 64), level) for level in (0.5, 0.95))
    assert (wide.low <= narrow.low).all()
    assert (wide.high >= narrow.high).all()
    with pytest.raises(InputError, match="between 0 and 1"):
        found.predict(asked(4), 1.0)


def test_a_forecast_that_falls_to_zero_is_none() -> None:
    found = Pmnf().fit(grown(lambda p: 100 - 20 * np.log2(p) + 1))
    forecast = found.predict(asked(4, 1024))
    assert np.isnan(forecast.median).tolist() == [False, True]
    assert any("not above 0 in 1 rows" in note for note in forecast.notes)
    assert np.isnan(found.predict(asked(0)).median).all()


@settings(max_examples=8, deadline=None)
@given(st.sampled_from(EXPONENTS), st.floats(0.01, 1e4), st.integers(0, 99))
def test_a_common_factor_of_the_times_is_one_of_the_forecast(pair, factor, seed) -> None:
    made = grown(lambda p: 1 + float(pair.of(np.array([p]))[0]), noise=0.02, seed=seed)
    times = replace(made, response=factor * made.response, repetitions=())
    first, second = (Pmnf().fit(t).predict(asked(8, 256)) for t in (made, times))
    assert second.median == pytest.approx(factor * first.median, nan_ok=True, rel=1e-6)
    assert second.high == pytest.approx(factor * first.high, rel=1e-3)


# --- input ------------------------------------------------------------------------------------


def test_repeated_points_are_one() -> None:
    once = grown(lambda p: 3 + p**2, noise=0.05, repeat=4)
    rows = [row for row in once.inputs.rows for _ in range(4)]
    apart = table(rows, [v for values in once.repetitions for v in values])
    assert Pmnf().fit(apart).terms == pytest.approx(Pmnf().fit(once).terms)


def test_a_parameter_of_one_value_is_left_out_and_said() -> None:
    rows = [(p, 7.0) for p in POINTS.tolist()]
    found = Pmnf().fit(table(rows, [2 * p for p, _ in rows]))
    assert found.names == ("p",)
    assert "q did not vary in training" in found.explain().notes
    assert found.predict(asked_two(64, 7)).median == pytest.approx([128])


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([(2,), (4,), (8,), (16,)], "4 points along p; expected at least 5"),
        ([(i, i) for i in range(1, 9)], "1 points along p; expected at least 5"),
        ([(0,), (1,), (2,), (3,), (4,)], "p is not always positive"),
        ([(3,)] * 5, "0 parameters vary"),
        (list(itertools.product([1, 2], repeat=4)), "4 parameters vary; expected one to 3"),
    ],
)
def test_tables_of_another_kind_are_refused(rows, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Pmnf().fit(table(rows, [1.0] * len(rows), "pqrs"))


def test_categories_are_refused() -> None:
    made = grown(lambda p: p)
    parameters = (*made.parameters, categorical("order", ["jil", "jli"]))
    rows = tuple((*row, "jil" if i % 2 else "jli") for i, row in enumerate(made.inputs.rows))
    with pytest.raises(InputError, match="order is categorical"):
        Pmnf().fit(replace(made, inputs=ParameterRows(parameters=parameters, rows=rows)))
