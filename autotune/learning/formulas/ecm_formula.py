"""The predictions of an engine for one candidate, as a formula of the problem size.

    T(n) = sum of sweeps, barriers, communication, each linear in n^e between the predicted sizes

At the predicted sizes T equals the prediction of the engine. Several sizes are needed because a
sweep is steeper where its data no longer fit a cache. Above the largest size the last line
continues. Below the smallest size, and where only one size was predicted, sweeps are in proportion
to n^e and the rest is constant. The time of a sweep is the one that the engine computed from its
parts (ECM: the larger of T_OL and T_nOL with all transfers, no less than the bandwidth allows). The
text of its term names the part that bounds it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from autotune.domain.results import Part, Prediction
from autotune.errors import Fault, InputError
from autotune.learning.formulas.base import (
    Floats,
    FormulaTerm,
    PowerFactor,
    Values,
    column,
    positive,
)

WHOLE = ("sweep", "barrier", "communication")
"""The kinds of parts that add up to a time step."""
_NOTHING = 1e-12
"""Share of a part below which a constant or a slope of it is rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeTerm:
    """One part of the time step, with its seconds at each of the predicted sizes, in ascending
    order.
    """

    name: str
    seconds: tuple[float, ...]
    bounds: tuple[str, ...]
    """Of a sweep, the parts inside it that take longest."""
    fixed: bool = False
    """Does not follow the size where nothing else is known: barriers, communication."""

    def __post_init__(self) -> None:
        if not all(0 <= t < np.inf for t in self.seconds):
            raise ValueError(f"{self.name}: seconds must be finite and not negative")

    def lines(self, sizes: Floats) -> tuple[Floats, Floats]:
        """The constants and slopes, (k + 1,) each, of the straight pieces below, between and above
        ``sizes`` (k,) to the power e.
        """
        t = np.array(self.seconds)
        below = 0.0 if self.fixed else t[0] / sizes[0]
        slopes = np.diff(t) / np.diff(sizes)
        above = max(float(slopes[-1]), 0.0) if len(slopes) else below
        every = np.array([below, *slopes, above])
        at = np.array([0, *range(len(t))])
        return t[at] - every * sizes[at], every


@dataclass(frozen=True, slots=True, kw_only=True)
class Ecm:
    """The predicted time step of a candidate as a function of one parameter, its size."""

    parts: tuple[SizeTerm, ...]
    sizes: tuple[float, ...]
    """Where the engine was asked, ascending; beyond them the formula extrapolates."""
    between: float
    """How far the formula is off between two sizes at most, if the time per n^e lies between those
    of both: the larger over the smaller, less 1; nan for a single size."""
    engine: str
    size: str = "n"
    exponent: float = 1.0
    """e: 1 where the size counts elements, 2 and 3 where it is an edge of a square or a cube."""
    scale: float = 1.0
    at: float | None = None
    """Where the terms are taken; the largest size if None."""

    def __post_init__(self) -> None:
        positive(self.name, scale=self.scale, exponent=self.exponent)
        if not self.parts:
            raise ValueError("a time step has at least one part")
        if sorted(set(self.sizes)) != list(self.sizes) or not self.sizes[0] > 0:
            raise ValueError("sizes are positive and ascend")
        if any(not len(part.seconds) == len(part.bounds) == len(self.sizes) for part in self.parts):
            raise ValueError("every part has its seconds at each size")

    @property
    def name(self) -> str:
        """The name of the formula: ``ecm`` and the engine that predicted the parts."""
        return f"ecm-{self.engine}"

    @property
    def parameters(self) -> tuple[str, ...]:
        """The name of the one parameter, the problem size."""
        return (self.size,)

    def evaluate(self, values: Values) -> Floats:
        """(n,) seconds per time step."""
        n = column(values, self.size, self.name)
        place = np.searchsorted(self.sizes, n)
        x = n**self.exponent
        constants, slopes = self._lines().sum(axis=1)
        return np.asarray(self.scale * (constants[place] + slopes[place] * x), dtype=np.float64)

    def terms(self) -> tuple[FormulaTerm, ...]:
        """Two terms for each part at the size ``at``: the one that grows with the size and the
        constant.

        Their sum is the formula between the two sizes around ``at``. A part whose data leave a
        cache there has a negative constant.
        """
        n = self._point
        place = int(np.searchsorted(self.sizes, n))
        grows = frozenset([PowerFactor("power", self.size, self.exponent)])
        terms = []
        for part, (constant, slope) in zip(
            self.parts, self._lines()[:, :, place].T.tolist(), strict=True
        ):
            x = n**self.exponent
            value = constant + slope * x
            for number, share, factors in ((slope, slope * x, grows), (constant, constant, None)):
                if abs(share) > _NOTHING * value:
                    terms.append(
                        FormulaTerm(
                            coefficient=self.scale * number,
                            factors=factors or frozenset(),
                            text=_label(part, place),
                        )
                    )
        return tuple(terms)

    def __str__(self) -> str:
        factor = "" if self.scale == 1 else f"{self.scale:.4g} "
        terms = " + ".join(f"{term} [{term.text}]" for term in self.terms()).replace("+ -", "- ")
        sizes = ", ".join(f"{n:g}" for n in self.sizes)
        off = ""
        if not np.isnan(self.between):
            off = f", off by {100 * self.between:.1f} % at most between two of these"
        return f"T = {factor}({terms}) s {self._valid}; {self.engine} at {self.size} = {sizes}{off}"

    @property
    def _valid(self) -> str:
        """Where the terms are the formula, in words: on one straight piece of it."""
        place, ends = int(np.searchsorted(self.sizes, self._point)), self.sizes
        if len(ends) == 1:
            return f"near {self.size} = {self._point:g}"
        if place == 0:
            return f"up to {self.size} = {ends[0]:g}"
        upper = "on" if place == len(ends) else f"to {ends[place]:g}"
        return f"from {self.size} = {ends[place - 1]:g} {upper}"

    @property
    def _point(self) -> float:
        return self.sizes[-1] if self.at is None else self.at

    def _lines(self) -> Floats:
        """(2, parts, pieces): the constants and the slopes of the straight pieces of each part."""
        x = np.array(self.sizes) ** self.exponent
        lines = [part.lines(x) for part in self.parts]
        return np.array([[line[k] for line in lines] for k in (0, 1)])


def ecm(predictions: Mapping[float, Prediction], size: str = "n", exponent: float = 1.0) -> Ecm:
    """The formula through one candidate's predictions at several problem sizes.

    Raises InputError where there are no predictions, where the engine could not predict a size, or
    where the parts do not add up to the whole.
    """
    if not predictions:
        raise InputError(Fault(where="ecm", found="no prediction", expected="at least one"))
    sizes = sorted(predictions)
    given = [predictions[n] for n in sizes]
    engines = sorted({made.engine for made in given})
    if len(engines) > 1:
        found = f"predictions of {' and '.join(engines)}"
        raise InputError(Fault(where="ecm", found=found, expected="of one engine"))
    shares = [_shares(n, made) for n, made in zip(sizes, given, strict=True)]
    kinds = {name: kind for share in shares for name, (kind, _) in share.items()}
    parts = tuple(
        SizeTerm(
            name=name,
            seconds=tuple(share[name][1] if name in share else 0.0 for share in shares),
            bounds=tuple(_bound(made, name) for made in given),
            fixed=kind != "sweep",
        )
        for name, kind in kinds.items()
    )
    between = _between(np.array(sizes) ** exponent, np.sum([p.seconds for p in parts], axis=0))
    return Ecm(
        parts=parts, sizes=tuple(sizes), between=between, engine=engines[0], size=size,
        exponent=exponent,
    )  # fmt: skip


def _between(x: Floats, seconds: Floats) -> float:
    """The largest change of the time per x from one size to the next, as a share."""
    if len(x) < 2:
        return float("nan")
    steps = np.abs(np.diff(np.log(seconds / x)))
    return float(np.expm1(steps.max()))


def _shares(n: float, prediction: Prediction) -> dict[str, tuple[str, float]]:
    """The kind and the seconds of each part of a time step: each sweep, the barriers, the
    communication.
    """
    where = f"prediction at {n:g}"
    if prediction.seconds is None:
        raise InputError(Fault(where=where, found=prediction.reason))
    seconds_of: dict[str, tuple[str, float]] = {}
    for part in prediction.parts:
        if part.kind in WHOLE:
            name = _name(part)
            seconds_of[name] = (part.kind, seconds_of.get(name, ("", 0.0))[1] + part.seconds)
    whole = sum(seconds for _, seconds in seconds_of.values())
    if not np.isclose(whole, prediction.seconds, rtol=1e-6):
        sums = f"parts of {whole:.6g} s for a step of {prediction.seconds:.6g} s"
        raise InputError(Fault(where=where, found=sums, expected="all of it"))
    return seconds_of


def _name(part: Part) -> str:
    return part.sweep if part.kind == "sweep" else part.kind


def _bound(prediction: Prediction, name: str) -> str:
    """The two largest parts of a sweep's time, as text."""
    inside = [p for p in prediction.parts if p.kind not in WHOLE and p.sweep == name]
    order = sorted(inside, key=lambda part: (-part.seconds, part.kind))[:2]
    return ", ".join(part.kind for part in order)


def _label(part: SizeTerm, place: int) -> str:
    """The name of a part; for a sweep also what bounds it at the upper end of a piece."""
    bound = part.bounds[min(place, len(part.bounds) - 1)]
    return f"{part.name}: {bound}" if bound else part.name
