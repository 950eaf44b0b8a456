"""Which differences between asserted and measured counts are borne, and which visits pass."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple, get_args

from autotune.domain.assertion_record import COUNTED, Count, PathKind, PathRecord
from autotune.errors import Fault, InputError, unknown_name

KINDS: tuple[str, ...] = tuple(k for k in get_args(PathKind) if k not in ("region", "sub"))
"""The kinds that a tolerance may be stated for."""
_TOLERANCE = re.compile(r"\s*(?:([a-z]+)\s*=)?\s*(\d+(?:\.\d*)?|\.\d+)\s*(%?)\s*")


@dataclass(frozen=True, slots=True)
class Tolerances:
    """The share of the measured count by which an assertion may be wrong, by kind."""

    usual: float = 0.0
    """0: equal counts only."""
    by_kind: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Tolerances":
        """The tolerances of texts such as ``5%``, ``0.05`` and ``flop=5%``.

        Raises InputError for any other text, and for an unknown kind.
        """
        usual, by_kind = 0.0, {}
        for text in texts:
            match = _TOLERANCE.fullmatch(text)
            if match is None:
                raise InputError(
                    Fault(where="--tolerance", found=f"{text!r}", expected="5%, or flop=5%")
                )
            kind, number, percent = match.groups()
            value = float(number) / (100 if percent else 1)
            if not value < 1:
                raise InputError(
                    Fault(where="--tolerance", found=f"{text!r}", expected="less than 100 %, as 3%")
                )
            if kind is None:
                usual = value
            elif kind in KINDS:
                by_kind[kind] = value
            else:
                raise InputError(unknown_name("--tolerance", "kind", kind, KINDS))
        return cls(usual, by_kind)

    def share(self, kind: str) -> float:
        """The tolerance of a kind, a share of the measured count."""
        return self.by_kind.get(kind, self.usual)


class JudgedVisits(NamedTuple):
    """Visits that pass and fail within a tolerance."""

    passes: int
    failures: int
    unsure: int
    """Failures that may be within the tolerance: the measured count of just these visits was not
    kept."""


def relative_error(asserted: Count, measured: Count) -> float | None:
    """(asserted - measured) / measured; None where it is infinite: nothing was measured.

    >>> relative_error(7002, 7001)
    0.00014283673760891302
    """
    if asserted == measured:
        return 0.0
    if measured == 0:
        return None
    try:
        return float((_exact(asserted) - _exact(measured)) / _exact(measured))
    except OverflowError:
        return None


def is_summed(path: PathRecord) -> bool:
    """Whether the counts of a path are known as sums over its visits only.

    So it is where a counter was read after the run: it knows no least and no most of a visit.
    """
    return path.kind in COUNTED and path.measured is not None and path.least is None


def judged(path: PathRecord, tolerance: float) -> JudgedVisits:
    """The visits of a path that pass within a tolerance.

    A visit passes only where that is sure: its difference is within the tolerance of the least
    measured count.
    """
    if tolerance == 0:
        return JudgedVisits(path.passes, path.failures, 0)
    least, most = _range(path)
    borne = [d for d in path.differences if _within(d.difference, least, tolerance)]
    passes = sum(d.visits for d in borne)
    open_visits = sum(d.visits for d in path.differences if _within(d.difference, most, tolerance))
    rest = max(0, path.passes + path.failures - sum(d.visits for d in path.differences))
    if path.worst is not None and rest:  # no difference is larger than the worst one
        worst = _exact(path.worst.asserted) - _exact(path.worst.measured)
        passes += rest * _within(worst, least, tolerance)
        open_visits += rest * _within(worst, most, tolerance)
    passes = max(passes, path.passes)
    total = path.passes + path.failures
    return JudgedVisits(passes, total - passes, max(0, open_visits - passes))


def _range(path: PathRecord) -> tuple[Count, Count]:
    """The least and the most of the measured counts, absolutely; 0 where it is not known."""
    if path.least is None or path.most is None or path.least < 0:
        return 0, abs(path.most or 0)
    return path.least, path.most


def _within(difference: Count | Fraction, measured: Count, tolerance: float) -> bool:
    return abs(_exact(difference)) <= _exact(tolerance) * abs(_exact(measured))


def _exact(number: Count | Fraction) -> Fraction:
    return Fraction(number)
