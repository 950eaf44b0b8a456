from dataclasses import replace

import numpy as np
import pytest
from model_conformance import ModelConformance

from autotune.domain.tables.table import (
    MeasurementTable,
    Parameter,
    ParameterRows,
    categorical,
    numeric,
)
from autotune.errors import InputError
from autotune.learning.comparison.syntactic_score import score
from autotune.learning.influence import Influence, StoppingRule
from autotune.learning.influence.candidate_terms import candidates
from autotune.learning.influence.forward_selection import select
from autotune.learning.models.base import LearnedModel
from autotune.learning.models.conformal import Conformal
from autotune.learning.models.terms import CONSTANT, columns, indicator, log2, matrix, power, text


class TestInfluence(ModelConformance):
    accuracy = 0.05

    def model(self) -> LearnedModel:
        return Conformal(regressor=Influence())


class TestInfluenceOnTheResponse(ModelConformance):
    accuracy = 0.3

    def model(self) -> LearnedModel:
        return Conformal(regressor=Influence(target="raw"))


def options(count: int = 80, seed: int = 0) -> tuple[tuple[Parameter, ...], tuple]:
    chance = np.random.default_rng(seed)
    parameters = (
        numeric("x", range(1, 11)),
        numeric("y", range(0, 50, 5)),
        categorical("kind", ["a", "b", "c"]),
    )
    rows = tuple(
        tuple(p.values[int(chance.integers(len(p.values)))] for p in parameters)
        for _ in range(count)
    )
    return parameters, rows


def table(law, noise: float = 0.0, count: int = 80) -> MeasurementTable:
    parameters, rows = options(count)
    factors = np.exp(np.random.default_rng(1).normal(0, noise, count))
    response = np.array([law(*row) for row in rows]) * factors
    return MeasurementTable(
        name="made", inputs=ParameterRows(parameters=parameters, rows=rows), response=response
    )


def test_a_planted_sum_with_an_interaction_is_found_to_its_coefficients() -> None:
    """As the models of section 4.1 of Kaltenecker (2016)."""
    planned = {
        CONSTANT: 10.0,
        frozenset({power("x")}): 3.0,
        frozenset({power("y")}): 0.4,
        frozenset({power("x"), power("y")}): 0.2,
        frozenset({indicator("kind", "b")}): 5.0,
    }
    made = table(lambda x, y, kind: 10 + 3 * x + 0.4 * y + 0.2 * x * y + 5 * (kind == "b"))
    rule = StoppingRule(margin=1e-9, threshold=1e-9)
    found = Influence(target="raw", rule=rule, shapes=("linear",)).train(made)
    assert score(planned, found.terms, constant=True).normalised == pytest.approx(1, abs=1e-6)
    assert found.formula.startswith("time = 10 + ")
    assert found.predict(made.inputs) == pytest.approx(made.response)


def test_a_planted_product_is_readable() -> None:
    made = table(lambda x, y, kind: 0.5 * x**1.5 * {"a": 1.0, "b": 2.0, "c": 1.0}[kind])
    found = Influence().train(made)
    assert found.formula == "time = 0.5 * x^1.5 * 2^[kind = b]"
    assert found.words() == (
        "doubling x multiplies the time by 2.83",
        "kind = b multiplies the time by 2",
    )
    assert [term.text for term in found.explain().terms] == ["log2(x)", "[kind = b]", "1"]


def test_other_terms_stand_in_the_exponent() -> None:
    made = table(lambda x, y, kind: 2 ** (0.1 * x * (kind == "c")))
    found = Influence(shapes=("linear",)).train(made)
    assert "2^(" in found.formula
    assert found.predict(made.inputs) == pytest.approx(made.response, rel=1e-2)


def test_words_of_a_sum_are_in_its_unit() -> None:
    made = table(lambda x, y, kind: 100 + 5 * x - 20 * (kind == "a"))
    words = Influence(target="raw", shapes=("linear",)).train(made).words()
    assert set(words) == {"x, from 1 to 10, adds 45 s", "kind = a takes 20 s"}


def test_an_interaction_is_tried_only_beside_one_of_its_factors() -> None:
    parameters, rows = options()
    found = candidates(
        ParameterRows(parameters=parameters, rows=rows), ("linear",), order=2, degree=2
    )
    assert {text(term) for term in found.first()} == {
        "x", "y", "[kind = a]", "[kind = b]", "[kind = c]"
    }  # fmt: skip
    grown = {text(term) for term in found.grown(frozenset({power("x")}))}
    assert grown == {"x^2", "x * y", "[kind = a] * x", "[kind = b] * x", "[kind = c] * x"}
    grown = {text(term) for term in found.grown(frozenset({power("x"), power("y")}))}
    assert grown == {"x^2 * y", "x * y^2"}


def test_shapes_are_those_that_can_be_told_apart() -> None:
    shift = numeric("shift", [-1, 0, 1, 2])
    parameters = (numeric("flag", [0, 1]), numeric("n", [8, 16, 32]), shift)
    rows = tuple((i % 2, 8 << (i % 3), i % 4 - 1) for i in range(12))
    found = candidates(ParameterRows(parameters=parameters, rows=rows))
    assert {text(t) for t in found.first()} == {
        "log2(1 + flag)", "log2(n)", "n", "shift", "shift^2"
    }  # fmt: skip


@pytest.mark.parametrize("criterion", ["leave-one-out", "training"])
def test_the_update_is_the_fit(criterion) -> None:
    """Errors of a round without fitting are those of fitting again, without each row."""
    made = table(lambda x, y, kind: x**2 + y + 3, noise=0.1, count=25)
    known = columns(made.inputs)
    found = candidates(made.inputs)
    seen = []

    def error(residuals):
        values = np.abs(residuals).mean(axis=0)
        seen.append(values)
        return values

    chosen = select(
        np.log(made.response),
        lambda terms: matrix(terms, known, len(made)),
        found.first(),
        found.grown,
        error,
        StoppingRule(criterion=criterion, margin=0, threshold=0, rounds=4),
    )
    assert len(chosen.rounds) >= 2
    design = matrix(chosen.terms, known, len(made))
    target = np.log(made.response)
    if criterion == "training":
        fitted = design @ np.linalg.lstsq(design, target, rcond=None)[0]
    else:
        fitted = np.empty(len(made))
        for row in range(len(made)):
            others = np.arange(len(made)) != row
            slopes = np.linalg.lstsq(design[others], target[others], rcond=None)[0]
            fitted[row] = design[row] @ slopes
    assert chosen.error == pytest.approx(np.abs(target - fitted).mean(), rel=1e-6)
    assert design @ chosen.coefficients == pytest.approx(
        design @ np.linalg.lstsq(design, target, rcond=None)[0]
    )


def test_errors_fall_by_the_margin_and_stop_at_the_threshold() -> None:
    made = table(lambda x, y, kind: x**1.3 * (1 + y) ** 0.4, noise=0.05)
    wide = Influence(rule=StoppingRule(margin=0.05)).train(made).selection
    fine = Influence(rule=StoppingRule(margin=0.0)).train(made).selection
    enough = Influence(rule=StoppingRule(threshold=0.2)).train(made).selection
    assert len(wide.rounds) < len(fine.rounds)
    assert enough.error < 0.2 < enough.rounds[-2].error
    steps = [fine.start, *(step.error for step in fine.rounds)]
    assert steps == sorted(steps, reverse=True)


def test_noise_is_not_explained() -> None:
    made = table(lambda x, y, kind: 1.0, noise=0.1)
    published = Influence(rule=StoppingRule(criterion="training", margin=0.0, threshold=0.0)).train(
        made
    )
    assert len(Influence().train(made).selection.rounds) <= 4 < len(published.selection.rounds)


def test_there_are_never_more_terms_than_rows_less_two() -> None:
    made = table(lambda x, y, kind: x + y, noise=0.3, count=6)
    rule = StoppingRule(criterion="training", margin=0.0, threshold=0.0)
    assert len(Influence(rule=rule).train(made).selection.rounds) <= 4


def test_published_settings_are_those_of_algorithm_1() -> None:
    made = table(lambda x, y, kind: 10 + 3 * x + 0.2 * x * y)
    found = Influence.published().train(made)
    assert found.target == "raw"
    assert found.predict(made.inputs) == pytest.approx(made.response, rel=0.05)


def test_a_row_that_has_no_value_is_nan() -> None:
    made = table(lambda x, y, kind: x**2.0)
    asked = ParameterRows(parameters=made.parameters, rows=((0, 0, "a"), (4, 0, "new")))
    assert np.isnan(Influence().train(made).predict(asked)).tolist() == [True, False]


def test_too_little_to_learn_from_is_said() -> None:
    made = table(lambda x, y, kind: 1.0 + x)
    with pytest.raises(InputError, match="at least 2"):
        Influence().train(made.take([0]))
    same = replace(made.inputs, rows=(made.inputs.rows[0],) * len(made))
    with pytest.raises(InputError, match="no parameter varies"):
        Influence().train(replace(made, inputs=same))


@pytest.mark.parametrize("wrong", [{"margin": -1.0}, {"threshold": -0.1}, {"rounds": 0}])
def test_a_rule_is_checked(wrong) -> None:
    with pytest.raises(ValueError, match=r"not below 0|at least one round"):
        StoppingRule(**wrong)


def test_log_terms_are_told_from_powers() -> None:
    made = table(lambda x, y, kind: 5 + 7 * np.log2(x))
    found = Influence(target="raw").train(made)
    assert found.terms[frozenset({log2("x")})] == pytest.approx(7)


def _exact(rows: tuple[tuple[float, ...], ...], names: str, law) -> MeasurementTable:
    parameters = tuple(numeric(n, [row[k] for row in rows]) for k, n in enumerate(names))
    response = np.array([law(*row) for row in rows])
    return MeasurementTable(
        name="made", inputs=ParameterRows(parameters=parameters, rows=rows), response=response
    )


def test_parameters_that_follow_from_one_another_are_told() -> None:
    rows = tuple((float(n), 2.0 * n, float(k)) for n in (1, 2, 4, 8) for k in (1, 2, 3))
    fitted = Influence().train(_exact(rows, "nmk", lambda n, m, k: 3 * n**1.5))
    (step,) = fitted.selection.rounds
    chosen, other = ("n", "m") if "n" in text(step.term) else ("m", "n")
    assert [text(term) for term in step.stands_for] == [f"log2({other})"]
    told = f"log2({other}) follows from {chosen} in these rows"
    assert any(note.startswith(told) for note in fitted.explain().notes)
    assert fitted.words()[0].endswith(f"(log2({other}) cannot be told from it here)")


def test_a_parameter_that_follows_from_two_others_is_told() -> None:
    rows = tuple((float(a), float(b), float(a * b)) for a in (1, 2, 4, 8) for b in (1, 3, 9))
    law = lambda a, b, c: a**1.5 * b**0.5  # noqa: E731
    fitted = Influence().train(_exact(rows, "abc", law))
    notes = [note for note in fitted.explain().notes if "follows from" in note]
    assert len(notes) == 1
    assert ", " in notes[0].split("follows from ")[1].split(" in these")[0]


def test_independent_parameters_stand_for_themselves() -> None:
    fitted = Influence().train(table(lambda x, y, kind: 2.0 * x + 0.1 * y + 1, noise=0.01))
    assert not any(step.stands_for for step in fitted.selection.rounds)
    assert not fitted.selection.exhausted


@pytest.mark.parametrize("count", [2, 3])
def test_too_few_rows_for_terms_is_told(count: int) -> None:
    rows = tuple((float(2**k), float(k % 2)) for k in range(count))
    fitted = Influence().train(_exact(rows, "nm", lambda n, m: n))
    assert any(note.startswith("too few rows for more terms") for note in fitted.explain().notes)
