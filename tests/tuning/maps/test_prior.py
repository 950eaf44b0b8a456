"""The prior of a map: cells, likeness of contenders, unknown predictions, axes."""

import numpy as np
import pytest

from autotune.domain.results import Prediction, Uncertainty
from autotune.errors import InputError
from autotune.tuning.maps import axes
from autotune.tuning.maps.map_prior import Cells, prior, traits

CELLS = Cells(sizes=(64, 128), threads=(1, 2))


def predicted(seconds: float | None, own: float = 0.1, **shared: float) -> Prediction:
    return Prediction(
        seconds=seconds,
        interval=None,
        parts=(),
        engine="reuse",
        reason="",
        uncertainty=None if seconds is None else Uncertainty(shared=shared, independent=own),
    )


def test_cells_are_numbered_size_by_size() -> None:
    assert [CELLS.at(c) for c in range(len(CELLS))] == [(64, 1), (64, 2), (128, 1), (128, 2)]
    sizes, threads = CELLS.octaves
    assert sizes.tolist() == [6, 6, 7, 7]
    assert threads.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("sizes", "threads"),
    [((), (1,)), ((64,), ()), ((64, 64), (1,)), ((128, 64), (1,)), ((0,), (1,))],
)
def test_axes_must_increase(sizes: tuple[int, ...], threads: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"sizes|threads"):
        Cells(sizes=sizes, threads=threads)


def test_likeness_is_one_with_oneself_and_falls_with_the_parameters_that_differ() -> None:
    rows = [
        {"order": "jli", "tile": 16, "au": True},
        {"order": "jli", "tile": 32, "au": True},
        {"order": "jli", "tile": 64, "au": True},
        {"order": "lij", "tile": 64, "au": True},
        {"order": "lij", "tile": None, "au": True},
    ]
    features = traits(rows)
    alike = features @ features.T
    assert np.diag(alike) == pytest.approx(1.0)
    assert alike[0, 1] > alike[0, 2] > alike[0, 3]
    assert alike[0, 4] == pytest.approx(0.0), "neither the order nor the tile is the same"


def test_true_is_not_one() -> None:
    features = traits([{"a": True}, {"a": 1}, {"a": 1.0}])
    alike = features @ features.T
    assert alike[0, 1] == pytest.approx(0)
    assert alike[1, 2] < 1


def test_contenders_that_the_engine_cannot_predict_are_taken_for_the_median() -> None:
    rows = [[predicted(1.0)] * 4, [predicted(3.0)] * 4, [predicted(None)] * 4]
    made = prior(CELLS, [{"k": 1}, {"k": 2}, {"k": 3}], rows)
    assert made.predicted
    assert made.mean[2, 0] == pytest.approx(np.log(3) / 2)
    assert made.independent[2, 0] > 2 * made.independent[0, 0]


def test_without_any_prediction_all_are_equal() -> None:
    made = prior(CELLS, [{"k": 1}, {"k": 2}], [[predicted(None)] * 4] * 2)
    assert not made.predicted
    assert not made.mean.any()
    assert np.sqrt((made.trend**2).sum(axis=1)).min() > 10, "any time is possible"


def test_shared_uncertainties_are_columns_in_one_order() -> None:
    rows = [[predicted(1.0, L2=0.1, clock=0.2)] * 4, [predicted(1.0, clock=0.3)] * 4]
    made = prior(CELLS, [{"k": 1}, {"k": 2}], rows)
    assert made.shifts[0, 0].tolist() == [0.1, 0.2]
    assert made.shifts[1, 0].tolist() == [0.0, 0.3]


def test_a_cell_needs_a_legal_contender() -> None:
    with pytest.raises(ValueError, match="no winner"):
        prior(CELLS, [{}], [[predicted(1.0), None, predicted(1.0), predicted(1.0)]])


def test_a_twin_is_known() -> None:
    rows = [[predicted(1.0)] * 4, [None, *[predicted(1.0)] * 3]]
    made = prior(CELLS, [{"t": 1}, {"t": 2}], rows, {(1, 0): 0})
    assert made.twin[:, 0].tolist() == [0, 0]
    assert not made.legal[1, 0]


def test_sizes_as_users_write_them() -> None:
    assert axes.sizes("64..4096:7") == (64, 128, 256, 512, 1024, 2048, 4096)
    assert axes.sizes("128, 64,64") == (64, 128)
    assert len(axes.sizes("64..4096")) == axes.COUNT
    assert axes.sizes("2..4:10") == (2, 3, 4)


@pytest.mark.parametrize(
    "text", ["", "64..64", "64..32", "0..5", "a", "64,", "-4", "1..9:1", "4.5"]
)
def test_wrong_sizes_say_what_is_wrong(text: str) -> None:
    with pytest.raises(InputError, match="--sizes"):
        axes.sizes(text)


def test_threads_as_users_write_them() -> None:
    assert axes.threads("1, all,2", 4) == (1, 2, 4)
    for text in ("0", "5", "", "1;2", "some"):
        with pytest.raises(InputError, match="--threads"):
            axes.threads(text, 4)
