"""The programs of a skeleton; each is made once for all sizes, thread counts and builds."""

from collections.abc import Callable
from dataclasses import replace

from autotune.codegen.tree import loop_tree, variant_program
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.codegen.tree.variant_program import VECTORS
from autotune.domain.problem import AnyProblem
from autotune.domain.skeleton import Skeleton
from autotune.domain.variant import Candidate, Pad, Transformation, Variant


class SkeletonPrograms:
    """Makes the program of a variant for a problem, and remembers programs and refusals."""

    def __init__(self, skeleton: Skeleton) -> None:
        self._skeleton = skeleton
        self._programs: dict[tuple[object, ...], loop_tree.StepProgram | str] = {}
        self._patterns: dict[tuple[object, ...], loop_tree.StepProgram | str] = {}
        self._vectors: variant_program.ChangedSweeps = {}

    def __call__(self, candidate: Candidate) -> loop_tree.StepProgram:
        """The program of a candidate; raises ``IllegalTransformation`` where there is none."""
        program = self.make(candidate.variant, candidate.problem)
        if isinstance(program, str):
            raise IllegalTransformation(program)
        return program

    def make(self, variant: Variant, problem: AnyProblem) -> loop_tree.StepProgram | str:
        """The program, or the reason why it cannot be made."""
        key = (_loops(variant), problem.method_key)
        if key not in self._programs:
            self._programs[key] = self._made(variant, problem)
        program = self._programs[key]
        return program if isinstance(program, str) else variant_program.padded(program, variant)

    def _made(self, variant: Variant, problem: AnyProblem) -> loop_tree.StepProgram | str:
        """The program without padding: of the one with plain vectors, or of that of its pattern."""
        plain = tuple(t for t in variant.transformations if not isinstance(t, VECTORS))
        if len(plain) < len(variant.transformations):
            loops = self.make(replace(variant, transformations=plain), problem)
            return _and_then(
                loops, lambda made: variant_program.with_vectors(made, variant, self._vectors)
            )
        pattern, sizes = variant_program.pattern_of(variant)
        key = (_loops(pattern), problem.method_key)
        if key not in self._patterns:
            try:
                made = variant_program.loops(pattern, self._skeleton, problem)
                self._patterns[key] = made
            except IllegalTransformation as refusal:
                self._patterns[key] = refusal.reason
        return _and_then(self._patterns[key], lambda made: variant_program.with_sizes(made, sizes))


def _and_then(
    program: loop_tree.StepProgram | str,
    change: Callable[[loop_tree.StepProgram], loop_tree.StepProgram],
) -> loop_tree.StepProgram | str:
    """The changed program, or the reason why there is none."""
    if isinstance(program, str):
        return program
    try:
        return change(program)
    except IllegalTransformation as refusal:
        return refusal.reason


def _loops(variant: Variant) -> tuple[Transformation, ...]:
    """The transformations without those of storage."""
    return tuple(t for t in variant.transformations if not isinstance(t, Pad))
