"""The benchmark of learned models: its tables from planted files, its figures from planted runs."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from model_conformance import planted

from autotune.learning.models.base import Forecast

FOLDER = Path(__file__).parents[2] / "benchmarks"


def _module(name: str):
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def data():
    return _module("learned_data")


@pytest.fixture(scope="module")
def score():
    return _module("learned_score")


HEADER = (
    "nxP,nyQ,nzR,coarsen_type,relax_type,interp_type,P,Q,R,nthreads,ppn_count,nnodes,"
    "wall_time2,wall_time"
)


def test_an_index_without_a_name_is_left_out(data, tmp_path: Path) -> None:
    path = tmp_path / "amg.csv"
    rows = ["7,32,32,32,5,7,4,1,4,1,32,4,1,0.33,0.09", "9,64,32,32,0,7,4,2,4,1,16,8,1,0.22,0.04"]
    path.write_text("\n".join([HEADER, *rows]))
    table = data.read(path).table
    assert table.name == "AMG"
    assert table.response.tolist() == [0.09, 0.04]
    assert table.inputs.rows[0] == (32.0, "5", 1.0, 32.0, 4.0)
    assert table.inputs.names == ("nxP", "coarsen_type", "P", "nthreads", "ppn_count")
    surfaces = 2 * 3 * 32**2 * 4
    assert table.inputs.analytical[0] == pytest.approx(32**3 * 4 / 128**0.9 + surfaces)


def test_the_last_column_of_another_file_is_the_response(data, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("a,b,time\n1,2,0.5\n2,2,0.7\n4,3,0.9\n")
    table = data.read(path).table
    assert (table.name, table.inputs.names) == ("mine", ("a", "b"))
    assert table.response.tolist() == [0.5, 0.7, 0.9]


def test_a_recorded_space_comes_with_its_predictions(data) -> None:
    table = data.read(FOLDER / "recorded" / "heat2d.json.gz").table
    assert np.isfinite(table.inputs.analytical).all()


def run(score, **changes):
    figures = {
        "mape": 0.1, "mdape": 0.08, "tau": 0.9, "loss": 0.01, "coverage": 0.9, "width": 0.3,
        "infinite": 0.0, "outside": 0.0, "silent": 0.0, "fit": 0.5, "groups": {"a=1": (45, 50)},
    }  # fmt: skip
    base = {"data": "Dune", "model": "pool", "size": 49, "repeat": 1}
    return score.Run(**{**base, **figures, **changes})


def test_the_figures_of_a_forecast(score) -> None:
    table = planted(60)
    factor = np.where(np.arange(60) % 2, 1.1, 1 / 1.1)
    median = table.response * factor
    forecast = Forecast(
        median=median, low=median / 1.05, high=median * 1.2, outside=np.zeros(60, bool)
    )
    found = score.score(table, forecast)
    assert found["mape"] == pytest.approx((0.1 + 1 - 1 / 1.1) / 2)
    assert found["coverage"] == 0.5
    assert found["width"] == pytest.approx((1.2 - 1 / 1.05) / 2)
    assert sum(count for _, count in found["groups"].values()) <= 3 * 60


def test_goals_and_published_figures_stand_beside(score) -> None:
    runs = [run(score, repeat=r, mape=0.1 + r / 1000) for r in (1, 2, 3)]
    runs += [run(score, repeat=r, model="ridge", mape=0.08) for r in (1, 2, 3)]
    text = "\n".join(score.lines(runs))
    assert [line for line in text.splitlines() if line.split()[-1:] == ["15.73"]]
    assert "Dune, 49 rows: error 10.20 +- 0.06 % (goal 10.5): met" in text
    assert "pool 10.2 %, best member ridge 8.0 % (noise 0.1): MISSED" in text
    assert "covers 90.0 +- 0.0 % (goal 85 to 97), least a=1 90.0 % (goal 75): met" in text


def test_every_model_has_its_loss_coverage_and_time(score) -> None:
    runs = [run(score, model=name, loss=x) for name, x in (("pool", 0.01), ("ridge", 0.25))]
    text = score.lines(runs)
    for title, cells in (("Loss", "25.0"), ("Covered", "90.0, 30"), ("CPU", "0.50")):
        place = next(i for i, line in enumerate(text) if line.startswith(title))
        row = next(line for line in text[place:] if line.startswith("ridge"))
        assert row.split(maxsplit=1)[1].strip() == cells


def test_times_to_fit_have_a_goal(score) -> None:
    line = score.fit_lines({"no analytical model": [1.0, 3.0, 2.5]})[0]
    assert "fitted in 2.50 s of CPU (1.00 to 3.00) (goal 2): MISSED" in line
    assert score.fit_lines({}) == []


def test_the_planted_table_is_the_same_for_a_seed(data) -> None:
    first, again = (data.planted(8, 20, analytical=True, seed=1) for _ in range(2))
    assert first.inputs.rows == again.inputs.rows
    assert first.response.tolist() == again.response.tolist()
    assert (len(first), len(first.parameters)) == (8, 20)
