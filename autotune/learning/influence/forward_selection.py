"""Stepwise forward selection: Algorithm 1 of Kaltenecker (2016), after Siegmund et al. (2015).

    repeat   try every candidate term beside those of the model; add the one of the least error
    until    the error fell by less than ``margin``, or is below ``threshold``

All candidates of a round are tried at once. They are kept orthogonal to the terms of the model
(Gram and Schmidt). So a candidate w changes the residual r by w (w r) / (w w) and the leverage of a
row by w^2 / (w w), which gives the leave-one-out error without a new fit. By this criterion a term
is rejected if it raises the leverage of a row above 0.6: it would rest on that row alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from autotune.learning.models.base import Bools, Floats
from autotune.learning.models.terms import CONSTANT, Product, parameters
from autotune.statistics.least_squares import least_squares

Criterion = Literal["leave-one-out", "training"]
Columns = Callable[[Sequence[Product]], Floats]
"""The value of terms at the training rows, (n, terms)."""
Error = Callable[[Floats], Floats]
"""Residuals of several models (n, models) to the error of each, (models,)."""

_INDEPENDENT = 1e-7
"""What is left of a candidate of length 1 beside the model, below which it says nothing new."""
_FREE = 0.4
"""1 - leverage below which a row all but determines its own fit: a term that rests on one row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppingRule:
    """When to stop a forward selection, and what counts as error.

    ``margin``, ``threshold``: mean relative errors, as shares. ``criterion``: the error of each row
    when it is left out of the fit, or (as published) the error of the training rows, which falls
    with every added term. ``rounds``: the largest number of terms.
    """

    margin: float = 0.001
    threshold: float = 0.01
    criterion: Criterion = "leave-one-out"
    rounds: int = 70

    def __post_init__(self) -> None:
        if self.margin < 0 or self.threshold < 0:
            raise ValueError("margin and threshold are shares, not below 0")
        if self.rounds < 1:
            raise ValueError("a model has at least one round to grow in")


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round of the selection: the term that was added, and the error of the model with it."""

    term: Product
    error: float
    share: float
    """What it explains of the sum of squares around the mean, beside the terms before it."""
    stands_for: tuple[Product, ...] = ()
    """Terms of one other parameter that with it say nothing new of these rows: its influence may be
    theirs."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ForwardSelection:
    """The selected terms in the order of their addition, the constant first, with their
    coefficients.

    ``start``: the error of the constant alone. ``tried``: the number of candidate terms.
    """

    terms: tuple[Product, ...]
    coefficients: Floats
    start: float
    rounds: tuple[Round, ...]
    tried: int
    exhausted: bool = False
    """It ended because there were too few rows to judge one more term by."""

    @property
    def error(self) -> float:
        """The error of the final model by the criterion of the selection."""
        return self.rounds[-1].error if self.rounds else self.start


class _State:
    """The state of a forward selection: the columns of the model so far and those of the
    candidates.
    """

    def __init__(self, target: Floats, columns: Columns) -> None:
        count = len(target)
        self.columns = columns
        self.basis: Floats = np.full((count, 1), count**-0.5)
        self.residual: Floats = target - target.mean()
        self.leverage: Floats = np.full(count, 1 / count)
        self.terms: list[Product] = []
        self.beside: Floats = np.empty((count, 0))  # candidates without their part in the model
        self.offered: set[Product] = {CONSTANT}

    def offer(self, terms: Sequence[Product]) -> None:
        """Add candidate terms; those that were added before are skipped."""
        fresh = [term for term in dict.fromkeys(terms) if term not in self.offered]
        if not fresh:
            return
        self.offered.update(fresh)
        raw = self.columns(fresh)
        usable = np.asarray(np.isfinite(raw).all(axis=0), dtype=np.bool_)
        raw, fresh = (
            raw[:, usable],
            [t for t, use in zip(fresh, usable.tolist(), strict=True) if use],
        )
        lengths = np.linalg.norm(raw, axis=0)
        raw = raw / np.where(lengths > 0, lengths, 1.0)
        self.beside = np.hstack([self.beside, self._orthogonal(raw)])
        self.terms += fresh
        self._drop(np.linalg.norm(self.beside, axis=0) > _INDEPENDENT)

    def errors(self, error: Error, criterion: Criterion) -> Floats:
        """The error of the model extended by each candidate, (candidates,)."""
        squares = np.einsum("ij,ij->j", self.beside, self.beside)
        steps = (self.residual @ self.beside) / squares
        residuals = self.residual[:, None] - self.beside * steps
        if criterion == "training":
            return error(residuals)
        free = 1 - self.leverage[:, None] - self.beside**2 / squares
        errors = error(residuals / np.maximum(free, _FREE))
        return np.where(free.min(axis=0) > _FREE, errors, np.inf)

    def add(self, place: int) -> tuple[Product, float, list[Product]]:
        """Take a candidate into the model.

        Returns its term, the fall of the sum of squares, and terms that the new model gives rise
        to.
        """
        column = self._orthogonal(self.beside[:, [place]])[:, 0]
        column = column / np.linalg.norm(column)
        gain = float(column @ self.residual)
        self.residual = self.residual - gain * column
        self.leverage = self.leverage + column**2
        self.basis = np.column_stack([self.basis, column])
        term = self.terms[place]
        self.beside = self.beside - np.outer(column, column @ self.beside)
        kept = np.linalg.norm(self.beside, axis=0) > _INDEPENDENT
        kept[place] = True
        follows = [
            term_before
            for term_before, keep in zip(self.terms, kept.tolist(), strict=True)
            if not keep
        ]
        kept[place] = False
        self._drop(kept)
        return term, gain**2, follows

    def _orthogonal(self, columns: Floats) -> Floats:
        for _ in range(2):  # once leaves rounding errors of nearly dependent columns
            columns = columns - self.basis @ (self.basis.T @ columns)
        return columns

    def _drop(self, kept: Bools) -> None:
        self.beside = self.beside[:, kept]
        self.terms = [term for term, keep in zip(self.terms, kept.tolist(), strict=True) if keep]


def select(
    target: Floats,
    columns: Columns,
    first: Sequence[Product],
    grown: Callable[[Product], Sequence[Product]],
    error: Error,
    rule: StoppingRule,
) -> ForwardSelection:
    """Grow a linear model of the target (n,) term by term.

    ``first``: the candidates of the first round; ``grown``: the candidates that an added term gives
    rise to. There are at most n - 2 terms, so that residuals are left to judge by. The selection is
    deterministic: of equal errors the first candidate wins.
    """
    state = _State(target, columns)
    state.offer(first)
    total = float(state.residual @ state.residual)
    count = len(target)
    free = 1.0 if rule.criterion == "training" else 1 - 1 / count
    start = last = float(error(state.residual[:, None] / free)[0])
    errors: Floats = np.zeros(0)
    rounds: list[Round] = []
    while len(rounds) < min(rule.rounds, count - 2) and state.terms and last >= rule.threshold:
        errors = state.errors(error, rule.criterion)
        place = int(np.argmin(errors))
        error_after = float(errors[place])
        if not error_after < last:
            break
        term, gain, follows = state.add(place)
        share = gain / total if total else 0.0
        also = _others(follows, [*(step.term for step in rounds), term])
        rounds.append(Round(term=term, error=error_after, share=share, stands_for=also))
        if last - error_after < rule.margin:
            break
        last = error_after
        state.offer(grown(term))
    unsettled = bool(state.terms) and last >= rule.threshold
    resting = len(errors) > 0 and bool(np.isinf(errors).all())  # each candidate on a single row
    terms = (CONSTANT, *(step.term for step in rounds))
    return ForwardSelection(
        terms=terms,
        coefficients=least_squares(columns(terms), target),
        start=start,
        rounds=tuple(rounds),
        tried=len(state.offered) - 1,
        exhausted=unsettled and (resting or len(rounds) >= count - 2),
    )


def _others(follows: Sequence[Product], model: Sequence[Product]) -> tuple[Product, ...]:
    """The first term of each parameter that the model does not have yet, among terms of a single
    parameter.
    """
    names = {name for term in model for name in parameters(term)}
    others: dict[frozenset[str], Product] = {}
    for term in follows:
        about = parameters(term)
        if len(about) == 1 and not about & names:
            others.setdefault(about, term)
    return tuple(others.values())
