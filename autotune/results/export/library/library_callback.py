"""Steps of a library whose right-hand side is a function of its caller."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from autotune.codegen.c import harness
from autotune.codegen.tree import loop_tree, variant_program
from autotune.codegen.tree.called_program import CalledProgram, called_program
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.problem import Ivp, Problem, Region
from autotune.domain.skeleton import Skeleton
from autotune.domain.space import TRANSFORMATIONS
from autotune.domain.variant import (
    Align,
    Hoist,
    Prefetch,
    Transformation,
    Variant,
    Vectorize,
    WholeLines,
)
from autotune.language.expression import Num, Sym, parse

STATED = tuple((limited, autonomous) for limited in (False, True) for autonomous in (False, True))
"""What a caller may state: that the access distance is limited, that the time plays no part."""
_OF_LOOPS = (Align, Vectorize, WholeLines, Prefetch)
"""Transformations that a function of the caller has in its own code, or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalledForm:
    """The code of a time step that calls a function of the caller."""

    name: str
    """Of its symbol in C, and of its folder."""
    flags: tuple[str, ...]
    files: Mapping[str, str]
    """File name to C text."""
    evaluations: int
    """Of the right-hand side in a step."""
    stages: int
    """Of its pipeline; 1: it has none."""
    left_out: tuple[str, ...]
    """The transformations of the tuned code that are not legal here, as spaces call them."""

    @property
    def words(self) -> str:
        """What the form is, beside the tuned code."""
        without = f", without {', '.join(self.left_out)}" if self.left_out else ""
        return f"called{without}"


@dataclass(frozen=True, slots=True)
class CalledForms:
    """The forms of all codes of a library; equal ones are made once."""

    library: str
    skeleton: Skeleton
    """Whose steps estimate their error, where the method has an estimate."""
    problem: Problem
    fixed: Skeleton | None = None
    """That of steps of a given size; None: the same."""
    made: dict[tuple[object, ...], tuple[str, Mapping[str, str]]] = field(default_factory=dict)
    """Name and files by transformations and flags."""

    def of(self, variant: Variant, flags: tuple[str, ...]) -> tuple[CalledForm, ...]:
        """The forms of a variant, in the order of ``STATED``."""
        return tuple(self._form(variant, flags, *stated) for stated in STATED)

    def _form(
        self, variant: Variant, flags: tuple[str, ...], limited: bool, autonomous: bool
    ) -> CalledForm:
        made = self._program(variant, limited, autonomous)
        key = (made.kept, made.problem.ivp.limited, flags)
        if key not in self.made:
            name = f"{self.library}_called_{len(self.made) + 1}"
            self.made[key] = name, self._files(name, variant, made)
        name, files = self.made[key]
        return CalledForm(
            name=name,
            flags=flags,
            files=files,
            evaluations=evaluations(made.program, made.kept, self.problem.correctors),
            stages=loop_tree.stages(made.program.body),
            left_out=_words(made.left_out),
        )

    def _files(self, name: str, variant: Variant, made: CalledProgram) -> dict[str, str]:
        """The code, with that of steps of a given size where the same transformations are legal."""
        fixed = None
        if self.fixed is not None:
            same = replace(variant, transformations=made.kept)
            with suppress(IllegalTransformation):
                fixed = variant_program.program(same, self.fixed, made.problem, called=True)
        return harness.stepper_units(made.program, made.problem, name, fixed=fixed)

    def _program(self, variant: Variant, limited: bool, autonomous: bool) -> CalledProgram:
        """The program; the one for any access distance where a limited one gains nothing."""
        everywhere = called_program(
            variant, self.skeleton, self.problem, limited=False, autonomous=autonomous
        )
        if not limited:
            return everywhere
        near = called_program(
            variant, self.skeleton, self.problem, limited=True, autonomous=autonomous
        )
        return everywhere if near.kept == everywhere.kept else near


def chain(problem: Problem, components: int) -> Problem:
    """The problem that the self-test of a library hands over as a caller: the function ``chain`` of
    ``self_test.c.j2``.
    """
    regions = (
        ("0", "1", "cos(t) + y[j+1] - 2.0*y[j]"),
        ("1", "n - 1", "y[j-1] + y[j+1] - 2.0*y[j]"),
        ("n - 1", "n", "y[j-1] - 2.0*y[j]"),
    )
    ivp = Ivp(
        name="chain",
        title="a chain that the time moves at its beginning",
        source="made up",
        dimension=Sym("N"),
        access_distance=Num(1),
        limited=True,
        regions=tuple(_region(*texts) for texts in regions),
        initial=(_region("0", "n", "1.0 + 0.5*(j % 3)"),),
        stability=Num(4.0),
    )
    return replace(problem, ivp=ivp, size=components)


def _region(lower: str, upper: str, body: str) -> Region:
    return Region(lower=parse(lower), upper=parse(upper), body=parse(body))


def evaluations(
    program: loop_tree.StepProgram, transformations: Sequence[Transformation], correctors: int
) -> int:
    """How often a step evaluates the right-hand side."""
    once = any(isinstance(t, Hoist) for t in transformations)
    return (1 if once else program.stages) + correctors * program.stages


def _words(transformations: Sequence[Transformation]) -> tuple[str, ...]:
    names = {kind: name for name, kind in TRANSFORMATIONS.items()}
    return tuple(names[type(t)] for t in transformations if not isinstance(t, _OF_LOOPS))
