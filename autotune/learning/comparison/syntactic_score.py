"""How alike two models are as formulas: the syntactic score of Kaltenecker (2016), section 4.1.

The terms of a model fall into classes by the parameters they contain: 2*x and x^2 are both of the
class {x}. Every term that at least one model has scores once:

    -2            the other model has no term of this class
    -1            the other model has a term of this class, but not this term
    1 + alike     both models have the term, with coefficients a (analytical) and e (empirical):
                  alike = max(0, 1 - |e - a| / |a|), so 2 where the coefficients are equal
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from autotune.learning.models.terms import Factor, Product, Sum, parameters, text

Side = Literal["both", "analytical", "empirical"]
BEST = 2.0
"""The score of a term that both models have with the same coefficient."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TermScore:
    """The score of one term that at least one of two models has, and the reason."""

    term: str
    group: tuple[str, ...]
    """Its class: the parameters that it is about, sorted."""
    side: Side
    """Which model has it."""
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntacticScore:
    """The syntactic score of two models, with the scores of the single terms.

    ``published``: the sum over the terms, from -2 to 2 times their number, so that larger models
    score lower. ``normalised``: this sum over 2 times the number of terms, in [-1, 1]. It is -1
    where the models share no class and 1 where they are equal (also where both are empty).
    """

    published: float
    normalised: float
    terms: tuple[TermScore, ...]

    @property
    def matched(self) -> int:
        """The number of terms that both models have."""
        return sum(term.side == "both" for term in self.terms)


def score(analytical: Sum, empirical: Sum, *, constant: bool = False) -> SyntacticScore:
    """Score two sums of terms; terms with the coefficient 0 do not count.

    ``constant``: whether the constants of the models count, as terms of a class of their own. They
    do in Table 5.6: its -4.2 for the printed 1-D model lies between -5 and -4, which is the range
    with them, and not between -3 and -2, without. The rule itself speaks of parameters only, and a
    learned model always has a constant, so they do not count unless asked for.

    >>> from autotune.learning.models.terms import log2, power
    >>> x, y = power("x"), power("y")
    >>> a = {frozenset({x}): 3, frozenset({y}): 0.4, frozenset({power("y", 2)}): 1,
    ...      frozenset({log2("x"), y}): 2, frozenset({x, y}): 1}
    >>> e = {frozenset({x}): 5, frozenset({power("x", 2)}): 0.5, frozenset({y}): 3,
    ...      frozenset({power("y", 2)}): 1}
    >>> round(score(a, e).published, 12), round(score(a, e).normalised, 12)
    (-0.666666666667, -0.055555555556)
    """
    ours, theirs = _counted(analytical, constant), _counted(empirical, constant)
    classes = ({parameters(term) for term in ours}, {parameters(term) for term in theirs})
    shared = classes[0] & classes[1]
    union = sorted(
        {*ours, *theirs}, key=lambda t: (len(parameters(t)), sorted(parameters(t)), text(t))
    )
    scores = []
    for term in union:
        if term in ours and term in theirs:
            side: Side = "both"
            value = 1 + _alike(ours[term], theirs[term])
        else:
            side = "analytical" if term in ours else "empirical"
            value = -1.0 if parameters(term) in shared else -2.0
        group = tuple(sorted(parameters(term)))
        scores.append(TermScore(term=text(term), group=group, side=side, score=value))
    total = sum(term.score for term in scores)
    normalised = total / (BEST * len(scores)) if scores else 1.0
    return SyntacticScore(published=total, normalised=normalised, terms=tuple(scores))


def _alike(analytical: float, empirical: float) -> float:
    """The similarity of two coefficients: simValue of Kaltenecker (2016), with the absolute value
    in the denominator.

    The absolute value is needed because coefficients may be negative. None where there is no
    denominator.
    """
    return max(0.0, 1 - abs(empirical - analytical) / abs(analytical))


def _counted(model: Sum | Mapping[Product, float], constant: bool) -> dict[Product, float]:
    return {
        frozenset(Factor(*factor) for factor in term): float(coefficient)
        for term, coefficient in model.items()
        if coefficient != 0 and (term or constant)
    }
