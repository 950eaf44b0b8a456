"""The choice of a design as data, and the making of the design."""

from collections.abc import Sequence
from dataclasses import dataclass

from autotune.domain.tables.parameter import Parameter
from autotune.domain.tables.parameter_space import RowRule
from autotune.errors import Fault, InputError
from autotune.learning.designs.base import (
    COMPATIBILITIES,
    KINDS,
    TREATMENTS,
    Compatibility,
    Design,
    Kind,
    Treatment,
    check_choice,
)
from autotune.learning.designs.composite import box_behnken, central_composite
from autotune.learning.designs.d_optimal import d_optimal
from autotune.learning.designs.design_columns import TERMS, Terms
from autotune.learning.designs.factorial import full_factorial
from autotune.learning.designs.plackett_burman import plackett_burman
from autotune.learning.designs.sobol import sobol
from autotune.learning.designs.uniform import random
from autotune.progress import Progress

_SIZED: tuple[Kind, ...] = ("random", "sobol", "d-optimal")
"""The kinds that need a number of rows."""
_COMPATIBLE: tuple[Kind, ...] = (
    "full-factorial", "plackett-burman", "central-composite", "box-behnken",
)  # fmt: skip
_TREATED: tuple[Kind, ...] = ("plackett-burman", "central-composite", "box-behnken", "sobol")
"""The kinds that may hit points that constraints forbid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignPlan:
    """The kind of a design with its settings; InputError for settings that do not belong to the
    kind.
    """

    kind: Kind
    rows: int | None = None
    levels: int | None = None
    terms: Terms | None = None
    seed: int = 0
    treatment: Treatment | None = None
    """None: repair; of a Sobol design as there."""
    compatibility: Compatibility | None = None

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)
        check_choice("terms", self.terms, TERMS)
        check_choice("illegal", self.treatment, TREATMENTS)
        check_choice("compatibility", self.compatibility, COMPATIBILITIES)
        burman = self.kind == "plackett-burman"
        self._only("rows", self.rows, burman or self.kind in _SIZED)
        self._only("levels", self.levels, burman)
        self._only("terms", self.terms, self.kind == "d-optimal")
        self._only("illegal", self.treatment, self.kind in _TREATED)
        self._only("compatibility", self.compatibility, self.kind in _COMPATIBLE)
        if self.rows is None and self.kind in _SIZED:
            found = f"none are given, but a design of kind {self.kind} needs their number"
            raise InputError(Fault(where="rows", found=found, expected="how many rows to measure"))
        if self.seed < 0:
            raise InputError(Fault(where="seed", found=str(self.seed), expected="at least 0"))

    def _only(self, name: str, given: object, fits: bool) -> None:
        if given is not None and not fits:
            found = f"{given} for a design of kind {self.kind}"
            raise InputError(Fault(where=name, found=found, expected="nothing: it has none"))

    def design(
        self,
        parameters: Sequence[Parameter],
        constraints: Sequence[RowRule] = (),
        progress: Progress | None = None,
    ) -> Design:
        """Make the design for these parameters and constraints; InputError where its kind cannot be
        made.
        """
        there, rows = self.compatibility, self.rows or 0
        treatment = self.treatment or "repair"
        match self.kind:
            case "full-factorial":
                return full_factorial(
                    parameters, constraints, compatibility=there, progress=progress
                )
            case "random":
                return random(parameters, constraints, rows=rows, seed=self.seed, progress=progress)
            case "plackett-burman":
                return plackett_burman(
                    parameters,
                    constraints,
                    size=(self.rows, self.levels),
                    seed=self.seed,
                    treatment=treatment,
                    compatibility=there,
                )
            case "central-composite" | "box-behnken":
                make = central_composite if self.kind == "central-composite" else box_behnken
                return make(parameters, constraints, treatment=treatment, compatibility=there)
            case "sobol":
                return sobol(
                    parameters,
                    constraints,
                    rows=rows,
                    seed=self.seed,
                    treatment=self.treatment,
                    progress=progress,
                )
            case "d-optimal":
                terms = self.terms or "interactions"
                return d_optimal(
                    parameters,
                    constraints,
                    rows=rows,
                    terms=terms,
                    seed=self.seed,
                    progress=progress,
                )
