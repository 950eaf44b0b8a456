"""Which variables a total depends on over their whole domains: Sobol's indices.

The first-order index of a variable is the share of the variance of a total that its value alone
explains; its total index counts interactions too (Saltelli et al. 2010, by scipy).
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from autotune.assertions.modelling.binding import ModelBinding, misfits
from autotune.assertions.modelling.parsed_model import ParsedModel
from autotune.assertions.modelling.studies.elasticities import domain_of
from autotune.assertions.modelling.tree_walk import Metric, rank_counts
from autotune.assertions.modelling.variable_domains import VariableDomain
from autotune.errors import Fault, InputError
from autotune.language.counts import Value
from autotune.units import counted

MOST_CHOICES = 4096
"""Values of a discrete variable that are drawn from; of more, evenly spread ones."""
_LARGEST = 2**20
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableShare:
    """The share of one variable in the variance of a total."""

    variable: str
    low: float
    high: float
    """The range that was drawn from."""
    first_order: float
    total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnRange:
    """The values of one variable that are drawn from, all with the same probability."""

    name: str
    choices: tuple[Value, ...]
    """Ascending; empty: every number between the ends."""
    ends: tuple[float, float]

    def at(self, share: float) -> Value:
        """The value below which a share of the range lies."""
        if not self.choices:
            return self.ends[0] + share * (self.ends[1] - self.ends[0])
        return self.choices[min(int(share * len(self.choices)), len(self.choices) - 1)]


def drawn_range(model: ParsedModel, name: str, value: Value, low: Value, high: Value) -> DrawnRange:
    """The valid values of a variable in a range; InputError where there are fewer than two."""
    domain = domain_of(model, name, value)
    if not domain.discrete:
        ends = max(float(low), domain.low), min(float(high), domain.high)
        values: list[Value] = []
    else:
        values = list(_spread(domain, low, high))
        ends = (float(values[0]), float(values[-1])) if values else (1.0, 0.0)
    if ends[0] >= ends[1]:
        found = f"{name} from {low} to {high} has fewer than two valid values"
        raise InputError(Fault(where="--range", found=found, expected="a wider range"))
    return DrawnRange(name=name, choices=tuple(values), ends=ends)


def _spread(domain: VariableDomain, low: Value, high: Value) -> Iterator[Value]:
    """The valid values of a range, ascending; of more than so many evenly spread ones."""
    step = max(Fraction(1), (Fraction(high) - Fraction(low)) / MOST_CHOICES)
    dense = domain.kinds <= {"whole", "even"}
    after: Value = math.ceil(low) - 1
    while (value := next(domain.up(after), None)) is not None and value <= high:
        yield value
        after = math.ceil(value + step) - 1 if dense else value


def variance_shares(
    binding: ModelBinding,
    metric: Metric,
    ranges: tuple[DrawnRange, ...],
    samples: int = 256,
    seed: int = 0,
    rank: int = 0,
) -> tuple[VariableShare, ...]:
    """Sobol's indices of a total of one rank, the largest first.

    ``samples``: a power of two; the model is evaluated samples x (variables + 2) times. InputError
    where values that are drawn together are not valid together.
    """
    if samples < 2 or samples & (samples - 1) or samples > _LARGEST:
        raise InputError(
            Fault(where="--samples", found=str(samples), expected="a power of two from 2 on")
        )

    def total(shares: Floats) -> Floats:
        rows = [
            _evaluated(
                binding, metric, {r.name: r.at(s) for r, s in zip(ranges, row, strict=True)}, rank
            )
            for row in shares.T
        ]
        return np.array([rows])

    uniform = [stats.uniform()] * len(ranges)
    if len(ranges) < 2:
        inputs = counted(len(ranges), "input")
        hint = "one input alone has all of the variance"
        raise InputError(Fault(where="--range", found=inputs, expected="two or more", hint=hint))
    shares = stats.sobol_indices(
        func=total,
        n=samples,
        dists=uniform,  # type: ignore[arg-type]
        rng=np.random.default_rng(seed),
    )
    results = [
        VariableShare(
            variable=drawn.name,
            low=drawn.ends[0],
            high=drawn.ends[1],
            first_order=_index(np.atleast_2d(shares.first_order)[0][place]),
            total=_index(np.atleast_2d(shares.total_order)[0][place]),
        )
        for place, drawn in enumerate(ranges)
    ]
    return tuple(sorted(results, key=lambda share: -share.total))


def _index(value: float) -> float:
    """An index within its bounds; 0 where the total does not vary at all."""
    return min(1.0, max(0.0, float(value))) if math.isfinite(value) else 0.0


def _evaluated(
    binding: ModelBinding, metric: Metric, drawn: Mapping[str, Value], rank: int
) -> float:
    values = {**binding.given, **drawn}
    fault = next(misfits(binding.model, values, "--range"), None)
    if fault is not None:
        hint = "narrow the ranges, or leave a variable out; " + fault.hint
        raise InputError(
            Fault(where=fault.where, found=fault.found, expected=fault.expected, hint=hint)
        )
    bound = ModelBinding(model=binding.model, given=values)
    return float(rank_counts(bound, min(rank, bound.ranks - 1))[metric])
