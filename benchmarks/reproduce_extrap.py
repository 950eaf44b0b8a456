"""Extra-P's worked example to its digits: its own inputs through our performance model normal form.

The inputs come with Extra-P (docs/examples/input.txt, tests/data/text) and are read from a folder.
"""

from fractions import Fraction
from pathlib import Path

import numpy as np
from reproduce_rows import Computed, Section, section

from autotune.domain.tables.table import MeasurementTable, Tables
from autotune.files.tables import read
from autotune.learning.models.terms import CONSTANT, Product
from autotune.learning.pmnf import EXPONENTS, Pmnf

NAME = "extra-p"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "learned" / "extrap"
_EXAMPLES = {
    "quick-start": "input.txt",
    "one": "one_parameter_1.txt",
    "two": "two_parameter_1.txt",
}


def sections(data: Path = DATA) -> list[Section]:
    """The exponents that are searched; means, models and figures of the examples that are there."""
    computed: dict[str, Computed] = {"exponents": float(len(EXPONENTS))}
    notes = []
    for name, file in _EXAMPLES.items():
        if (data / file).exists():
            computed |= _example(name, data / file)
        else:
            notes.append(
                f"{data / file} is not there: name the folder of Extra-P's inputs by --data"
            )
    return [section(NAME, computed, notes)]


def _example(name: str, file: Path) -> dict[str, Computed]:
    table = _first(read(file))
    fitted = Pmnf().fit(table)
    products = [(product, value) for product, value in fitted.terms.items() if product != CONSTANT]
    computed: dict[str, Computed] = {"constant": fitted.terms[CONSTANT]}
    for place, (product, value) in enumerate(products, 1):
        computed |= {f"term-{place}": _text(product), f"coefficient-{place}": value}
    figures = fitted.figures
    computed |= {
        "smape": figures.smape, "rss": figures.rss, "rrss": figures.rrss, "re": figures.re,
        "ar2": figures.ar2,
    }  # fmt: skip
    for place, values in enumerate(table.repetitions, 1):
        computed[f"mean-{place}"] = float(np.mean(values))
        computed[f"median-{place}"] = float(np.median(values))
    return {f"{name}-{key}": value for key, value in computed.items()}


def _first(found: MeasurementTable | Tables) -> MeasurementTable:
    return found if isinstance(found, MeasurementTable) else found.tables[0]


def _text(product: Product) -> str:
    """``x^(3/2) log2(x)^2``, as Extra-P orders it: by parameter, the power before the logarithm."""
    words = []
    for factor in sorted(product, key=lambda f: (f.parameter, f.function != "power")):
        power = Fraction(factor.power)
        base = factor.parameter if factor.function == "power" else f"log2({factor.parameter})"
        exponent = str(power) if power.denominator == 1 else f"({power})"
        words.append(base if power == 1 else f"{base}^{exponent}")
    return " ".join(words)
