"""Models in the formats of Hatchet, Thicket and Extra-P."""

import json
from pathlib import Path

import pytest

from autotune.assertions.modelling import parsed_model
from autotune.assertions.modelling.binding import bind
from autotune.assertions.modelling.exchange.extrap_lines import extrap_lines, scaling_lines
from autotune.assertions.modelling.exchange.hatchet_literal import hatchet_literal
from autotune.assertions.modelling.studies.scaling_study import scaling_study
from autotune.assertions.modelling.tree_walk import rank_counts
from autotune.files.tables.read_table import read

MODELS = Path(__file__).parents[2] / "examples" / "assertions" / "models"
ABSENT = "is not installed: it needs pandas < 3, and has no wheels for Python 3.13"
CG = parsed_model.load(MODELS / "cg.json")


def frames(literal: list) -> list[dict]:
    return [frame for top in literal for frame in (top, *frames(top["children"]))]


def test_the_literal_holds_all_nodes_with_the_same_metrics() -> None:
    literal = hatchet_literal(bind(CG, {}))
    every = frames(literal)
    assert len(every) == 1 + len(list(CG.walk()))
    assert len({tuple(frame["metrics"]) for frame in every}) == 1
    counts = rank_counts(bind(CG, {}))
    root = literal[0]["metrics"]
    for metric in ("flops", "messages", "volume", "received"):
        assert root[f"{metric} (inc)"] == float(counts[metric])
        assert sum(frame["metrics"][metric] for frame in every) == float(counts[metric])
    json.dumps(literal)


def test_hatchet_opens_the_tree() -> None:
    hatchet = pytest.importorskip("hatchet", reason=f"optional: llnl-hatchet {ABSENT}")
    literal = hatchet_literal(bind(CG, {}))
    frame = hatchet.GraphFrame.from_literal(literal)
    assert len(frame.dataframe) == len(frames(literal))
    assert frame.dataframe["volume"].sum() == literal[0]["metrics"]["volume (inc)"]


def test_thicket_opens_the_tree() -> None:
    thicket = pytest.importorskip("thicket", reason=f"optional: llnl-thicket {ABSENT}")
    literal = hatchet_literal(bind(CG, {}))
    ensemble = thicket.Thicket.from_literal(literal)
    assert len(ensemble.dataframe) == len(frames(literal))


def test_extra_p_lines_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "cg.jsonl"
    points = scaling_study(CG, {}, {"nprocs": (1, 2, 4, 8, 16)})
    path.write_text("".join(scaling_lines(points, "cg")))
    tables = read(path)
    flops = next(table for table in tables if table.quantity == "flops")
    assert flops.response.tolist() == [float(point.total("flops").most) for point in points]
    lines = [json.loads(line) for line in extrap_lines([bind(CG, {})])]
    assert {"params", "callpath", "metric", "value"} == set(lines[0])
    assert "NAS CG->conj_loop->conj_grad->floprho0" in {line["callpath"] for line in lines}
