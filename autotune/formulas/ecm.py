"""What an engine predicted for one candidate, as a formula of the problem size.

    T(n) = sum over sweeps of (c + s n)  +  barriers  +  communication (c + s n)

One prediction gives sweeps in proportion to n, barriers and communication as constants. Several, at
different n, give each part the line of least relative squares with c, s >= 0. A sweep is what the
engine made of its parts (ECM: the larger of T_OL and T_nOL with all transfers, no less than the
bandwidth allows), so the terms add up to the prediction; which part bounds it stands in the text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.optimize

from autotune.errors import Fault, InputError
from autotune.formulas.base import Factor, Floats, FormulaTerm, Values, column, positive
from autotune.results import Part, Prediction

WHOLE = ("sweep", "barrier", "communication")
"""The kinds of parts that add up to a time step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeTerm:
    """One part of a time step: ``constant + slope n`` seconds."""

    name: str
    constant: float
    slope: float
    bound: str = ""
    """Of a sweep, the parts inside it that take longest."""

    def __post_init__(self) -> None:
        if not (min(self.constant, self.slope) >= 0 and self.constant + self.slope < np.inf):
            raise ValueError(f"{self.name}: constant and slope must be finite and not negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ecm:
    """The predicted time step of a candidate as a function of one parameter, its size."""

    parts: tuple[SizeTerm, ...]
    sizes: tuple[float, ...]
    """Where the engine was asked; elsewhere the formula extrapolates."""
    worst: float
    """The largest relative deviation from the engine at ``sizes``."""
    engine: str
    size: str = "n"
    scale: float = 1.0

    def __post_init__(self) -> None:
        positive(self.name, scale=self.scale)
        if not self.parts:
            raise ValueError("a time step has at least one part")

    @property
    def name(self) -> str:
        """``ecm`` and the engine that the parts are from."""
        return f"ecm-{self.engine}"

    @property
    def parameters(self) -> tuple[str, ...]:
        """The size."""
        return (self.size,)

    def evaluate(self, values: Values) -> Floats:
        """(n,) seconds per time step."""
        n = column(values, self.size, self.name)
        time = sum(part.constant + part.slope * n for part in self.parts)
        return np.asarray(self.scale * time, dtype=np.float64)

    def terms(self) -> tuple[FormulaTerm, ...]:
        """One for each part that grows with the size, and one for each that does not."""
        linear, none = frozenset([Factor("power", self.size, 1.0)]), frozenset[Factor]()
        return tuple(
            FormulaTerm(coefficient=self.scale * number, factors=factors, text=_label(part))
            for part in self.parts
            for number, factors in ((part.slope, linear), (part.constant, none))
            if number > 0
        )

    def __str__(self) -> str:
        factor = "" if self.scale == 1 else f"{self.scale:.4g} "
        told = " + ".join(f"{term} [{term.text}]" for term in self.terms())
        asked = ", ".join(f"{n:g}" for n in self.sizes)
        return f"T = {factor}({told}) s; {self.engine} at {self.size} = {asked}, within" + (
            f" {100 * self.worst:.1f} %"
        )


def ecm(predictions: Mapping[float, Prediction], size: str = "n") -> Ecm:
    """The formula of one candidate's predictions by problem size.

    InputError where there is none, where an engine could not say, where their parts do not add up.
    """
    if not predictions:
        raise InputError(Fault(where="ecm", found="no prediction", expected="at least one"))
    sizes = sorted(predictions)
    given = [predictions[n] for n in sizes]
    seconds = np.array([_seconds(n, made) for n, made in zip(sizes, given, strict=True)])
    shares = [_shares(made) for made in given]
    names = list(dict.fromkeys(name for each in shares for name in each))
    parts = tuple(
        _line(name, sizes, [each.get(name, 0.0) for each in shares], _bound(given[-1], name))
        for name in names
    )
    found = sum(part.constant + part.slope * np.array(sizes) for part in parts)
    worst = float(np.abs(found / seconds - 1).max())
    engine = given[0].engine
    return Ecm(parts=parts, sizes=tuple(sizes), worst=worst, engine=engine, size=size)


def _seconds(n: float, prediction: Prediction) -> float:
    if prediction.seconds is None:
        raise InputError(Fault(where=f"prediction at {n:g}", found=prediction.reason))
    whole = sum(_shares(prediction).values())
    if not np.isclose(whole, prediction.seconds, rtol=0.01):
        found = f"parts of {whole:.4g} s for a step of {prediction.seconds:.4g} s"
        raise InputError(Fault(where=f"prediction at {n:g}", found=found, expected="all of it"))
    return float(prediction.seconds)


def _shares(prediction: Prediction) -> dict[str, float]:
    """Seconds of each sweep, of the barriers, of the communication."""
    found: dict[str, float] = {}
    for part in prediction.parts:
        if part.kind in WHOLE:
            name = _name(part)
            found[name] = found.get(name, 0.0) + part.seconds
    return found


def _name(part: Part) -> str:
    return part.sweep if part.kind == "sweep" else part.kind


def _line(name: str, sizes: Sequence[float], seconds: Sequence[float], bound: str) -> SizeTerm:
    if len(sizes) == 1:
        fixed = name in WHOLE[1:]
        slope = 0.0 if fixed else seconds[0] / sizes[0]
        return SizeTerm(name=name, constant=seconds[0] if fixed else 0.0, slope=slope, bound=bound)
    n, t = np.array(sizes), np.array(seconds)
    weight = 1 / np.where(t > 0, t, t.max())
    top = n.max()
    matrix = np.column_stack([weight, weight * n / top])
    (constant, slope), _ = scipy.optimize.nnls(matrix, weight * t)
    return SizeTerm(name=name, constant=float(constant), slope=float(slope / top), bound=bound)


def _bound(prediction: Prediction, name: str) -> str:
    """The parts inside a sweep by time, the two largest."""
    inside = [p for p in prediction.parts if p.kind not in WHOLE and p.sweep == name]
    order = sorted(inside, key=lambda part: (-part.seconds, part.kind))[:2]
    return ", ".join(part.kind for part in order)


def _label(part: SizeTerm) -> str:
    return f"{part.name}: {part.bound}" if part.bound else part.name
