"""Predictions of an engine as a formula of the size."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stencil_samples import MACHINE, candidate, problem

import autotune
from autotune.domain.results import Part, Prediction
from autotune.errors import InputError
from autotune.learning.formulas.base import PowerFactor, combined
from autotune.learning.formulas.ecm_formula import ecm
from autotune.workloads.stencil.planes.planes_engine import PlanesEngine

LINEAR = frozenset([PowerFactor("power", "n", 1.0)])


def prediction(n: float, *, start: float = 0.0, extra: float = 0.0) -> Prediction:
    """Two sweeps in proportion to n, barriers, communication of a start and a slope."""
    parts = [
        Part(sweep="rhs", kind="T_OL", seconds=1e-9 * n),
        Part(sweep="rhs", kind="MEM", seconds=3e-9 * n),
        Part(sweep="rhs", kind="T_nOL", seconds=2e-9 * n),
        Part(sweep="rhs", kind="sweep", seconds=5e-9 * n),
        Part(sweep="update", kind="sweep", seconds=2e-9 * n),
        Part(sweep="barrier", kind="barrier", seconds=4e-6),
        Part(sweep="communication", kind="communication", seconds=start + 1e-9 * n),
    ]
    seconds = sum(p.seconds for p in parts if p.kind in ("sweep", "barrier", "communication"))
    return Prediction(
        seconds=seconds + extra, interval=None, parts=tuple(parts), engine="reuse", reason=""
    )


def test_one_prediction_scales_its_sweeps_alone() -> None:
    found = ecm({1e6: prediction(1e6)})
    at = found.evaluate({"n": np.array([1e6, 2e6])})
    assert at[0] == pytest.approx(prediction(1e6).seconds)
    assert at[1] - at[0] == pytest.approx(7e-9 * 1e6)
    assert combined(found.terms()) == pytest.approx({LINEAR: 7e-9, frozenset(): 4e-6 + 1e-3})


@settings(max_examples=50, deadline=None)
@given(st.sets(st.integers(1000, 10**8), min_size=2, max_size=5), st.floats(0, 1e-3))
def test_what_is_linear_is_recovered(sizes: set[int], start: float) -> None:
    found = ecm({float(n): prediction(n, start=start) for n in sizes})
    n = np.array([*sorted(sizes), 2 * max(sizes), (min(sizes) + max(sizes)) / 2], dtype=float)
    expected = [prediction(each, start=start).seconds for each in n]
    assert found.evaluate({"n": n}) == pytest.approx(expected, rel=1e-6)


def leaving_a_cache(n: float) -> Prediction:
    """1 ns per element up to a million of them, 5 ns from there."""
    seconds = n * (1e-9 if n <= 1e6 else 5e-9)
    part = Part(sweep="update", kind="sweep", seconds=seconds)
    return Prediction(seconds=seconds, interval=None, parts=(part,), engine="reuse", reason="")


def test_two_regimes_are_exact_at_every_size_asked_for() -> None:
    sizes = (1e5, 1e6, 1.1e6, 1e8)
    found = ecm({n: leaving_a_cache(n) for n in sizes})
    at = np.array([1e4, *sizes, 2e8])
    assert found.evaluate({"n": at}) == pytest.approx([leaving_a_cache(n).seconds for n in at])
    assert found.between == pytest.approx(4.0)  # 5 ns for 1 ns, somewhere from 1e6 to 1.1e6
    (term,) = found.terms()
    assert term.coefficient == pytest.approx(5e-9)


@pytest.mark.parametrize("point", [1e5, 1e6, 1.05e6, 1e7, 1e8])
def test_terms_add_up_where_they_are_taken(point: float) -> None:
    made = ecm({n: leaving_a_cache(n) for n in (1e5, 1e6, 1.1e6, 1e8)})
    found = dataclasses.replace(made, at=point, scale=3.0)
    whole = sum(term.coefficient * (point if term.factors else 1.0) for term in found.terms())
    assert whole == pytest.approx(found.evaluate({"n": np.array([point])})[0])


@pytest.mark.parametrize(
    ("point", "words"),
    [
        (1e4, "up to n = 100000"),
        (1e8, "from n = 1.1e+06 to 1e+08"),
        (1.05e6, "from n = 1e+06 to 1.1e+06"),
        (2e8, "from n = 1e+08 on"),
    ],
)
def test_terms_say_for_which_sizes_they_hold(point: float, words: str) -> None:
    """A negative constant makes a negative time elsewhere."""
    made = ecm({n: leaving_a_cache(n) for n in (1e5, 1e6, 1.1e6, 1e8)})
    assert f") s {words}; reuse at" in str(dataclasses.replace(made, at=point))
    assert str(made).endswith("off by 400.0 % at most between two of these")


def test_an_edge_of_a_grid_goes_with_its_power() -> None:
    found = ecm({100.0: prediction(1e4), 1000.0: prediction(1e6)}, size="N", exponent=2.0)
    assert found.evaluate({"N": np.array([500.0])})[0] == pytest.approx(prediction(25e4).seconds)
    assert {str(term).split(" ", 1)[-1] for term in found.terms() if term.factors} == {"N^2"}
    with pytest.raises(InputError, match="no values of N"):
        found.evaluate({"n": np.array([500.0])})


def test_a_sweep_says_what_bounds_it() -> None:
    found = ecm({1e6: prediction(1e6)})
    assert [term.text for term in found.terms()] == [
        "rhs: MEM, T_nOL", "update", "barrier", "communication",
    ]  # fmt: skip
    assert str(found).endswith("s near n = 1e+06; reuse at n = 1e+06")


def test_what_does_not_add_up_is_refused() -> None:
    with pytest.raises(InputError, match="parts of"):
        ecm({1e6: prediction(1e6, extra=1.0)})


def test_an_engine_that_cannot_say_gives_no_formula() -> None:
    silent = Prediction(seconds=None, interval=None, parts=(), engine="x", reason="no figure of L3")
    with pytest.raises(InputError, match="no figure of L3"):
        ecm({1.0: silent})
    with pytest.raises(InputError, match="no prediction"):
        ecm({})


def test_two_engines_make_no_formula() -> None:
    other = dataclasses.replace(prediction(2e6), engine="kerncraft")
    with pytest.raises(InputError, match="kerncraft and reuse"):
        ecm({1e6: prediction(1e6), 2e6: other})


def test_it_is_what_an_engine_says_at_the_sizes_asked_for() -> None:
    """Planes on growing cubes, by the edge: exact there, and near it in between."""
    engine = PlanesEngine(MACHINE)
    sides = np.array([32.0, 64.0, 96.0, 128.0, 256.0])
    made = engine.predict([candidate(problem(int(n), int(n), int(n))) for n in sides])
    told = np.array([each.seconds for each in made], dtype=float)
    found = ecm(dict(zip(sides, made, strict=True)), size="N", exponent=3.0)
    assert found.name == "ecm-planes"
    assert found.evaluate({"N": sides}) == pytest.approx(told)
    between = np.array([48.0, 80.0, 112.0, 192.0])
    said = engine.predict([candidate(problem(int(n), int(n), int(n))) for n in between])
    off = found.evaluate({"N": between}) / np.array([each.seconds for each in said]) - 1
    assert np.abs(off).max() < found.between + 0.05


CONFIG = """\
schema: autotune.config/1
title: three problems over their size
machine: haswell-e5-2630v3
skeleton: pirk
space: pirk-orders
problems:
{problems}
builds:
  - {{compiler: gcc, flags: [-O3, -march=haswell]}}
layouts: [{{nodes: 1, ranks: 1, threads: 8}}]
"""
SIZES = {
    "wave1d": (100_000, 1_000_000, 16_000_000),
    "medakzo": (1_000_000, 4_000_000, 16_000_000),
    "heat2d": (256, 1000, 6000),
}


def test_real_candidates_of_three_problems(tmp_path: Path) -> None:
    """Of every loop order, at every size asked for, and at one left out."""
    line = "  - {{ivp: {}, method: radau-iia-7, correctors: 6, size: {}}}"
    problems = [line.format(ivp, size) for ivp, sizes in SIZES.items() for size in sizes]
    path = tmp_path / "three.yaml"
    path.write_text(CONFIG.format(problems="\n".join(problems)), encoding="utf-8")
    made: dict[tuple[str, str], dict[float, Prediction]] = {}
    for ranking in autotune.predict(path, engines=["reuse"]).ranked.rankings:
        for entry in ranking.entries:
            c = entry.candidate
            key = (c.problem.ivp.name, c.label.split("@")[0])
            made.setdefault(key, {})[float(c.problem.size)] = entry.prediction
    assert len(made) == 6 * len(SIZES)
    for (ivp, _), told in made.items():
        exponent = 2.0 if ivp == "heat2d" else 1.0
        found = ecm(told, exponent=exponent)
        n = np.array(SIZES[ivp], dtype=float)
        said = np.array([told[size].seconds for size in n], dtype=float)
        assert found.evaluate({"n": n}) == pytest.approx(said, rel=1e-12)
        whole = sum(t.coefficient * n[-1] ** (exponent * bool(t.factors)) for t in found.terms())
        assert whole == pytest.approx(said[-1])
        inner = n[-2]
        without = ecm({size: p for size, p in told.items() if size != inner}, exponent=exponent)
        off = abs(without.evaluate({"n": np.array([inner])})[0] / told[inner].seconds - 1)
        assert off <= without.between
