"""The program of a variant whose right-hand side is a function of the caller of a library."""

from dataclasses import dataclass, replace

from autotune.codegen.tree import callback, loop_tree, variant_program
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.problem import Problem
from autotune.domain.skeleton import Skeleton
from autotune.domain.variant import (
    FuseTiles,
    NeighbourSync,
    Pipeline,
    Transformation,
    Variant,
)

_NEAR = (FuseTiles, NeighbourSync, Pipeline)
"""Transformations for right-hand sides whose access distance is limited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalledProgram:
    """The nearest program to a variant in which a function evaluates the right-hand side."""

    program: loop_tree.StepProgram
    problem: Problem
    """That stands for what the caller computes."""
    kept: tuple[Transformation, ...]
    """Transformations of the variant that are legal for it, one after the other."""
    left_out: tuple[Transformation, ...]
    """The others."""


def called_program(
    variant: Variant, skeleton: Skeleton, problem: Problem, *, limited: bool, autonomous: bool
) -> CalledProgram:
    """The program with as many of the transformations of a variant as are legal, in their order.

    ``limited``: the caller states the access distance, which does not count around the ends;
    ``autonomous``: and that the time plays no part.
    """
    of_caller = callback.problem_of_caller(problem, limited=limited, autonomous=autonomous)
    kept: tuple[Transformation, ...] = ()
    left_out: list[Transformation] = []
    program = None
    for transformation in (None, *variant.transformations):
        tried = kept if transformation is None else (*kept, transformation)
        if isinstance(transformation, _NEAR) and not limited:
            left_out.append(transformation)
            continue
        try:
            program = variant_program.program(
                replace(variant, transformations=tried), skeleton, of_caller, called=True
            )
            kept = tried
        except IllegalTransformation:
            if transformation is None:
                raise
            left_out.append(transformation)
    assert program is not None
    return CalledProgram(program=program, problem=of_caller, kept=kept, left_out=tuple(left_out))
