"""Ibeid et al. 2019: the constants of its formulas, and its experiments in kind on this host.

Recorded times of `record_stencils.py` take the place of those of Blue Waters; the analytical model
is `planes` with the cache sizes and line costs recorded beside them, untuned, as in the paper.

    grids    analytical model that covers the space; hybrid on 1, 2, 4 %, trees on 10, 15, 20 %
    blocks   with blocking (Eq. 15), which the paper's own model gets wrong by 42 %
    threads  a serial analytical model with threaded times; nothing averaged, as there
"""

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from reproduce_rows import Section, section

from autotune.domain.tables.table import MeasurementTable, ParameterRows, numeric
from autotune.learning.comparison.measures import mape
from autotune.learning.formulas.fmm import NEAR, SEPARATED
from autotune.learning.formulas.planes_formula import Planes
from autotune.learning.models.base import Floats, Regressor
from autotune.learning.models.hybrid import Averaged, ScaledAnalytical, Stacked
from autotune.learning.models.trees import Trees
from autotune.results.report.text_table import columns

NAME = "ibeid-2019"
RECORDED = Path(__file__).resolve().parent / "recorded" / "stencils" / "stencil7.json.gz"
_DOUBLE = 8
_HYBRID = (1.0, 2.0, 4.0)
_PURE = (10.0, 15.0, 20.0)
_DRAWS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """MAPE of a method trained on a share of a space, over the draws; percent."""

    space: str
    method: str
    share: float
    """Percent of the rows; 0: nothing is trained."""
    rows: int
    mean: float
    deviation: float


def sections(recorded: Path = RECORDED) -> list[Section]:
    """The constants; the experiments are notes of the section, as the paper prints no numbers."""
    computed = {
        "near": float(NEAR),
        "neighbours": float(NEAR - 1),
        "separated": float(SEPARATED),
        "p2p-terms": NEAR * 64.0**2 * (8192 / 64) / (64 * 8192),
        "words": 3.0 + 1.0,
    }
    notes = [f"{recorded} is not there: record it with record_stencils.py"]
    if recorded.exists():
        notes = list(experiments(recorded))
    return [section(NAME, computed, notes)]


def experiments(recorded: Path, draws: int = _DRAWS) -> Iterator[str]:
    """The experiments of section VII in kind, as text."""
    found = json.loads(gzip.decompress(recorded.read_bytes()))
    machine = found["machine"]
    yield (
        f"in kind on {machine['cpu']} ({machine['compiler']}, {machine['flags']}): MAPE in percent,"
        f" mean and standard deviation of {draws} random draws, on all other rows"
    )
    for name, space in found["spaces"].items():
        table = table_of(found, name)
        scores = list(_scores(table, averaged=name != "threads", draws=draws))
        lines = [("space", "rows", "method", "trained on", "MAPE", "+-")]
        lines += [
            (
                name, str(len(space["rows"])), score.method,
                f"{score.share:g} % ({score.rows})" if score.share else "nothing",
                f"{score.mean:.1f}", f"{score.deviation:.1f}" if score.share else "-",
            )
            for score in scores
        ]  # fmt: skip
        yield columns(lines)
        yield _conclusion(name, scores)


def table_of(found: dict[str, Any], name: str) -> MeasurementTable:
    """A space as a table, with the predictions of `planes` beside its rows."""
    space, machine = found["spaces"][name], found["machine"]
    rows = np.array(space["rows"], dtype=np.float64)
    values = dict(zip(found["columns"], rows.T, strict=True))
    varying = [q for q in found["columns"] if len(np.unique(values[q])) > 1]
    parameters = tuple(numeric(q, [int(v) for v in np.unique(values[q])]) for q in varying)
    model = planes(machine)
    blocks = {"TJ": values["bj"], "TK": values["bk"]}
    predicted = model.evaluate({**{q: values[q] for q in ("I", "J", "K")}, **blocks})
    inputs = ParameterRows(
        parameters=parameters,
        rows=tuple(zip(*([int(v) for v in values[q]] for q in varying), strict=True)),
        analytical=predicted,
    )
    times = [tuple(each) for each in space["times"]]
    return MeasurementTable(
        name=name,
        inputs=inputs,
        response=np.array([np.median(each) for each in times]),
        repetitions=tuple(times),
        source="record_stencils.py",
        statistic="median",
    )


def planes(machine: dict[str, Any]) -> Planes:
    """The analytical model with what was recorded of the machine; untuned."""
    line = int(machine["line_bytes"])
    sizes = [size / _DOUBLE for size in machine["caches_bytes"]]
    return Planes(
        order=1,
        elements_per_line=line // _DOUBLE,
        caches=tuple(sizes),
        write_allocate=(True,) * len(sizes),
        costs=tuple(machine["seconds_per_line"]),
    )


def _scores(table: MeasurementTable, *, averaged: bool, draws: int) -> Iterator[Score]:
    assert table.inputs.analytical is not None
    alone = 100 * mape(table.inputs.analytical, table.response)
    yield _score(table, "analytical model", 0.0, 0, [alone])
    trees = Trees(name="trees-raw", log=False)
    stacked = Stacked(name="am-feature", base=trees)
    hybrid: Regressor = stacked
    if averaged:
        hybrid = Averaged(name="am-bagged", members=(stacked, ScaledAnalytical()))
    log_hybrid = Stacked(name="am-feature-log", base=Trees())
    for method, regressor, shares in (
        ("trees, raw time (theirs)", trees, _HYBRID + _PURE),
        ("stacked, raw time (theirs)", stacked, _HYBRID),
        ("stacked and averaged (theirs)", hybrid, _HYBRID if averaged else ()),
        ("stacked, log time (ours)", log_hybrid, _HYBRID),
    ):
        for share in shares:
            count = max(3, round(share / 100 * len(table)))
            errors = [_error(table, regressor, count, seed) for seed in range(draws)]
            yield _score(table, method, share, count, errors)


def _error(table: MeasurementTable, regressor: Regressor, count: int, seed: int) -> float:
    training, others = table.split(count, seed)
    predicted: Floats = regressor.train(training, seed).predict(others.inputs)
    return 100 * mape(predicted, others.response)


def _score(
    table: MeasurementTable, method: str, share: float, rows: int, errors: Sequence[float]
) -> Score:
    mean, deviation = float(np.mean(errors)), float(np.std(errors))
    return Score(
        space=table.name, method=method, share=share, rows=rows, mean=mean, deviation=deviation
    )


def _conclusion(name: str, scores: Sequence[Score]) -> str:
    """The paper's claim about a space, and what holds of it here."""

    def of(method: str, share: float) -> Score:
        return next(s for s in scores if s.method.startswith(method) and s.share == share)

    pure, best = of("trees", _PURE[-1]), of("stacked", _HYBRID[-1])
    same = of("trees", _HYBRID[-1])
    other = min((s for s in scores if s.share == _HYBRID[-1]), key=lambda s: s.mean)
    claims = {
        "grids": "claim: the hybrid reaches 10 % with 1 to 4 %, pure learning needs 10 to 20 %",
        "blocks": "claim: the hybrid nearly halves the error of pure learning",
        "threads": "claim: a serial analytical model helps with threaded times",
    }
    return (
        f"{claims.get(name, name)}; here at {_HYBRID[-1]:g} %: stacked {best.mean:.1f},"
        f" trees {same.mean:.1f} ({best.mean / same.mean:.2f}); trees at {_PURE[-1]:g} %"
        f" {pure.mean:.1f}; least at {_HYBRID[-1]:g} %: {other.method}, {other.mean:.1f}"
    )
