"""Formulas beside tables: predictions of the rows, terms to score, the fitted scale."""

import numpy as np
import pytest

from autotune.domain.tables.table import MeasurementTable, ParameterRows, numeric
from autotune.errors import InputError
from autotune.learning.comparison.syntactic_score import score
from autotune.learning.formulas.smg2000 import Smg2000
from autotune.learning.models.formula_predictions import predictions, terms_of, with_analytical
from autotune.learning.models.hybrid import ScaledAnalytical

MODEL = Smg2000(dimensions=1, alpha=1e-6, beta=1e-9, f=1e-10)
ROWS = ((100, 1), (200, 2), (400, 4))
INPUTS = ParameterRows(
    parameters=(numeric("nx", (100, 200, 400)), numeric("px", (1, 2, 4))), rows=ROWS
)


def test_predictions_are_of_the_rows() -> None:
    values = {"nx": np.array([100.0, 200, 400]), "px": np.array([1.0, 2, 4])}
    assert predictions(MODEL, INPUTS) == pytest.approx(MODEL.evaluate(values))


def test_the_scale_is_the_median_of_the_ratios() -> None:
    measured = predictions(MODEL, INPUTS) * np.array([3.0, 4.0, 90.0])
    table = with_analytical(MeasurementTable(name="t", inputs=INPUTS, response=measured), MODEL)
    assert table.inputs.analytical == pytest.approx(predictions(MODEL, INPUTS))
    assert ScaledAnalytical().train(table).scale == pytest.approx(4.0)


def test_a_formula_scores_full_against_itself() -> None:
    terms = terms_of(MODEL)
    assert len(terms) == 3
    assert score(terms, terms).normalised == 1.0


def test_rows_without_a_parameter_are_refused() -> None:
    only = ParameterRows(parameters=(numeric("nx", (100,)),), rows=((100,),))
    with pytest.raises(InputError, match="the rows have no px"):
        predictions(MODEL, only)
