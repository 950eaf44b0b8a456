"""What a library of sweeps over a grid holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from autotune.codegen.c import harness
from autotune.codegen.tree import variant_program
from autotune.domain.problem import StencilProblem
from autotune.domain.setup import Setup
from autotune.domain.skeleton import GRID
from autotune.domain.stencil import SOURCE
from autotune.domain.variant import Variant
from autotune.results.export import c_names
from autotune.results.export.entries import Choices
from autotune.results.export.library.library_facts import (
    LibraryContents,
    LibraryStepper,
    codes,
    compiler_of,
    library_name,
    predictions,
    tuned,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepFacts(LibraryContents):
    """A library for one stencil."""

    problem: StencilProblem
    """On the smallest tuned grid."""

    @property
    def extents(self) -> tuple[str, ...]:
        """The names of the numbers of interior points in C, slowest dimension first."""
        return tuple(f"n{dimension}" for dimension in self.problem.stencil.dimensions)

    @property
    def arrays(self) -> tuple[str, ...]:
        """The names of the arrays in C and Fortran: the state, then the coefficients."""
        names = c_names.UniqueNames(frozenset({"grid", "sweeps", *self.extents}))
        read = self.problem.stencil.coefficients_read
        return (names.new(SOURCE), *(names.new(f"coefficient_{name}") for name in read))


def is_swept(setup: Setup) -> bool:
    """Whether the problems of a config are stencils: a step of those runs over a grid."""
    return GRID in setup.skeleton.dimensions.values()


def gather(choices: Choices, setup: Setup, predicted: Mapping[str, float]) -> SweepFacts:
    """The codes of the choices of a study of one stencil, in one rank.

    ``predicted``: seconds of a sweep by identity of a candidate. InputError where the choices are
    of something else, of several stencils, or of a config that has changed.
    """
    sections, chosen_problem = tuned(choices, setup, most_ranks=1)
    problem, skeleton = cast("StencilProblem", chosen_problem), setup.skeleton

    def make(
        name: str, variant: Variant, flags: tuple[str, ...], _distributed: bool
    ) -> LibraryStepper:
        program = variant_program.program(variant, skeleton, problem)
        files = harness.sweeper_units(program, problem, name)
        return LibraryStepper(name=name, variant=variant, flags=flags, files=files)

    name = library_name(sections[0])
    return SweepFacts(
        name=name,
        compiler=compiler_of(sections),
        problem=problem,
        section=sections[0],
        chosen=codes(sections[0].entries, setup, name, make),
        predicted=predictions(sections[0].entries, predicted),
    )
