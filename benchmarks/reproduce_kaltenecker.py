"""What can be recomputed of Kaltenecker 2016: designs, example, benchmarks, SMG2000 in 1 to 3-D."""

import itertools
import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray
from reproduce_rows import Computed, Section, Span, document, section

from autotune.domain.tables.table import numeric
from autotune.learning.comparison.measures import semantics
from autotune.learning.comparison.syntactic_score import score
from autotune.learning.designs import SEEDS, central_composite, full_factorial, plackett_burman
from autotune.learning.formulas.smg2000 import Dimensions, Smg2000, expansion
from autotune.learning.formulas.term_polynomial import Polynomial, constant, log2, power, total
from autotune.learning.models.formula_predictions import terms_of
from autotune.learning.models.terms import Factor, Product

Floats = NDArray[np.float64]
Values = Mapping[str, Floats]
NAME = "kaltenecker-2016"
_CORES = 4
_NODES = 7
_FACTOR = 500.0
_NX = {1: (3_500_000, 4_000_000, 1_000), 2: (1_000, 3_700, 10), 3: (50, 220, 10)}
"""Table 5.2."""
_TOPOLOGY = range(1, 5)
"""Table 5.1."""
_BOOMER = 6**3
"""Table 5.3: nx, ny and nz from 20 to 70 by 10."""
_GIGAFLOPS = 25.14
_FLOP = 0.039e-9
"""Seconds per flop, as the thesis uses it."""
_MANY = 4
"""Coefficients of a model of which all roundings are tried together; of more, one at a time."""
_NOTES = (
    "Table 2.2 shifts right where Plackett and Burman shift left: its rows are ours read backwards",
    "chapter 5: f = 0.039 ns as printed; one process sends no messages; a node has 4 cores",
    "means without roots, relative to the empirical model: the convention of all tables",
)


def sections() -> list[Section]:
    """Everything of the thesis."""
    found = document(NAME)
    computed: dict[str, Computed] = {}
    for part in (_designs, _example, _benchmarks, _expansions, _comparisons):
        computed |= part(found)
    return [section(NAME, computed, _NOTES)]


def _designs(found: Mapping[str, Any]) -> dict[str, Computed]:
    small = [numeric("A", (1, 2)), numeric("B", (1, 5)), numeric("C", (1, 2))]
    computed: dict[str, Computed] = {"full-factorial": len(full_factorial(small))}
    eight = [numeric(name, (0, 1, 2)) for name in "ABCDEFGH"]
    rows = plackett_burman(eight, size=(9, 3)).rows
    backwards = sorted(("".join(str(value) for value in row[::-1]) for row in rows), reverse=True)
    printed = {n["id"]: n["printed"] for n in found["numbers"]}
    for i in range(1, 10):
        name = f"plackett-burman-{i}"
        computed[name] = printed[name] if printed[name] in backwards else "not in the design"
    for runs, levels in SEEDS:
        options = [numeric(name, tuple(range(levels))) for name in "AB"]
        computed[f"runs-{runs}-{levels}"] = plackett_burman(options, size=(runs, levels)).points
    pair = [numeric("A", tuple(range(1, 6))), numeric("B", tuple(range(2, 11, 2)))]
    two = central_composite(pair)
    middle = (3, 6)
    on_axes = [row for row in two.rows if row != middle and (row[0] == 3 or row[1] == 6)]
    corners = [row for row in two.rows if row[0] != 3 and row[1] != 6]
    return computed | {"composite-factorial": len(corners), "composite-star": len(on_axes)}


def _example(found: Mapping[str, Any]) -> dict[str, Computed]:
    models = found["models"]
    scored = score(_sum(models["example-analytical"]), _sum(models["example-empirical"]))
    by_class: dict[tuple[str, ...], float] = {}
    for term in scored.terms:
        by_class[term.group] = by_class.get(term.group, 0.0) + term.score
    computed: dict[str, Computed] = {
        "score": scored.published,
        "score-x": by_class["x",],
        "score-y": by_class["y",],
        "score-xy": by_class["x", "y"],
    }
    grid = list(itertools.product((1.0, 50.0, 100.0), (0.0, 24.0, 50.0)))
    values = {"x": np.array([x for x, _ in grid]), "y": np.array([y for _, y in grid])}
    analytical = _evaluate(models["example-table"], values)
    empirical = _evaluate(models["example-empirical"], values)
    return computed | {
        f"example-{name}": value for name, value in _measures(analytical, empirical).items()
    }


def _benchmarks(found: Mapping[str, Any]) -> dict[str, Computed]:
    nodes = [math.ceil(math.prod(p) / _CORES) for p in itertools.product(_TOPOLOGY, repeat=3)]
    computed: dict[str, Computed] = {
        "flop-time": 1 / _GIGAFLOPS,
        "boomeramg-configurations": sum(2 <= n <= _NODES for n in nodes) * _BOOMER,
    }
    for i, bandwidth in enumerate(found["latency"]["megabytes"], 1):
        computed[f"inverse-bandwidth-{i}"] = 8e3 / bandwidth
    return computed


def _expansions(found: Mapping[str, Any]) -> dict[str, Computed]:
    computed: dict[str, Computed] = {}
    dimensions: Dimensions
    for dimensions in (1, 2, 3):
        entries = found["expansions"][dimensions]
        texts = [e if isinstance(e, str) else e["corrected"] for e in entries]
        terms = [_term(text) for text in texts]
        derived = expansion(dimensions).coefficients
        printed = total(terms).coefficients
        agree = [derived.get(key) == printed[key] for term in terms for key in term.coefficients]
        whole = set(derived) == set(printed)
        computed[f"expansion-{dimensions}"] = float(sum(agree) if whole else -1)
    return computed


def _comparisons(found: Mapping[str, Any]) -> dict[str, Computed]:
    """Chapter 5: the analytical models against the printed empirical ones."""
    computed: dict[str, Computed] = {}
    for dimensions, name, row in _PAIRS:
        values, analytical = _smg(found, dimensions)
        model = found["models"][name]
        formula = _formula(found, dimensions)
        whole = score(terms_of(formula), _sum(model), constant=True)
        computed[f"{row}-syntactic"] = whole.published
        measures = _spans(model, values, analytical)
        computed |= {f"{row}-{key}": value for key, value in measures.items()}
        if name == "1d-FF":
            computed["scaled-error"] = measures["error-rate"]
            before = _measures(analytical / _FACTOR, _evaluate(model, values))
            computed["unscaled-error"] = before["error-rate"]
    return computed


_PAIRS: tuple[tuple[Dimensions, str, str], ...] = (
    (1, "1d-FF", "1d-FF"),
    (1, "1d-CC", "1d-CC"),
    (2, "2d-PB(49,7)", "2d"),
    (3, "3d-FF", "3d"),
)


def _smg(found: Mapping[str, Any], dimensions: Dimensions) -> tuple[Values, Floats]:
    """The configurations of Tables 5.1 and 5.2 on at most 7 nodes, and their predicted times."""
    low, high, step = _NX[dimensions]
    rows = [
        (nx, *p)
        for nx in range(low, high + 1, step)
        for p in itertools.product(_TOPOLOGY, repeat=dimensions)
        if math.prod(p) <= _CORES * _NODES
    ]
    columns = np.array(rows, dtype=np.float64).T
    values = dict(zip(("nx", "px", "py", "pz"), columns, strict=False))
    nodes = np.ceil(columns[1:].prod(axis=0) / _CORES).astype(int) - 1
    latency = found["latency"]
    machine = {
        "alpha": 1e-9 * np.array(latency["nanoseconds"], dtype=np.float64)[nodes],
        "beta": 8e-6 / np.array(latency["megabytes"], dtype=np.float64)[nodes],
    }
    return values, _formula(found, dimensions).evaluate(values | machine)


def _formula(found: Mapping[str, Any], dimensions: Dimensions) -> Smg2000:
    """With alpha and beta of 4 nodes, which section 5.4 takes for the terms."""
    latency = found["latency"]
    return Smg2000(
        dimensions=dimensions,
        alpha=1e-9 * latency["nanoseconds"][3],
        beta=8e-6 / latency["megabytes"][3],
        f=_FLOP,
        scale=_FACTOR,
    )


def _measures(analytical: Floats, empirical: Floats) -> dict[str, float]:
    found = semantics(
        analytical, empirical, name="the empirical model", unit="s", convention="kaltenecker"
    )
    smaller, larger = np.minimum(analytical, empirical), np.maximum(analytical, empirical)
    return {
        "error-rate": 100 * found.error_rate,
        "cosine": 100 * (found.cosine or math.nan),
        "jaccard": 100 * float(smaller.sum() / larger.sum()),
        "manhattan": found.manhattan,
        "euclidean": found.euclidean,
        "minkowski": found.minkowski_3,
        "chebyshev": found.chebyshev,
    }


def _spans(model: Mapping[str, str], values: Values, analytical: Floats) -> dict[str, Span]:
    """The measures, and what they become within the rounding of the model's coefficients."""
    columns = np.array(
        [np.broadcast_to(_term(t).evaluate(values), analytical.shape) for t in model]
    )
    numbers = np.array([float(number) for number in model.values()])
    halves = np.array([float(_half(number)) for number in model.values()])
    found = _measures(analytical, numbers @ columns)
    corners = [
        _measures(analytical, (numbers + np.array(move) * halves) @ columns)
        for move in _moves(len(model))
    ]
    return {
        key: Span(value, min(c[key] for c in corners), max(c[key] for c in corners))
        for key, value in found.items()
    }


def _moves(count: int) -> Iterator[tuple[int, ...]]:
    """Which coefficients are half of their last printed digit lower or higher."""
    if count <= _MANY:
        yield from itertools.product((-1, 0, 1), repeat=count)
        return
    for moved in range(count):
        for sign in (-1, 0, 1):
            yield tuple(sign * (place == moved) for place in range(count))


def _half(number: str) -> Decimal:
    return Decimal(5).scaleb(int(Decimal(number).as_tuple().exponent) - 1)


# --- models as they are printed ---------------------------------------------------------------


def _evaluate(model: Mapping[str, str], values: Values) -> Floats:
    terms = (_term(text) * float(number) for text, number in model.items())
    return np.asarray(total(terms).evaluate(values), dtype=np.float64)


def _sum(model: Mapping[str, str]) -> dict[Product, float]:
    terms = total(_term(text) * float(number) for text, number in model.items())
    return {
        frozenset(Factor(*factor) for factor in factors): number
        for factors, number in terms.coefficients.items()
    }


def _term(text: str) -> Polynomial:
    """``4 alpha log2(nx)^2``; log10 becomes log2 with its factor."""
    found = constant(1.0)
    for word in text.split():
        base, _, exponent = word.partition("^")
        times = int(exponent or 1)
        if base.startswith("log2("):
            factor = log2(base[5:-1])
        elif base.startswith("log10("):
            factor = math.log10(2) * log2(base[6:-1])
        elif base[0].isdigit():
            factor = constant(float(base))
        else:
            factor = power(base)
        for _ in range(times):
            found = found * factor
    return found
