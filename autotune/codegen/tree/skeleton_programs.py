"""The programs of a skeleton; each is made once for all sizes, thread counts and builds."""

from autotune.codegen.tree import loop_tree, variant_program
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.problem import AnyProblem
from autotune.domain.skeleton import Skeleton
from autotune.domain.variant import Candidate, Pad, Variant


class SkeletonPrograms:
    """Makes the program of a variant for a problem, and remembers programs and refusals."""

    def __init__(self, skeleton: Skeleton) -> None:
        self._skeleton = skeleton
        self._programs: dict[tuple[object, ...], loop_tree.StepProgram | str] = {}

    def __call__(self, candidate: Candidate) -> loop_tree.StepProgram:
        """The program of a candidate; raises ``IllegalTransformation`` where there is none."""
        program = self.make(candidate.variant, candidate.problem)
        if isinstance(program, str):
            raise IllegalTransformation(program)
        return program

    def make(self, variant: Variant, problem: AnyProblem) -> loop_tree.StepProgram | str:
        """The program, or the reason why it cannot be made."""
        loops = tuple(t for t in variant.transformations if not isinstance(t, Pad))
        key = (repr(loops), problem.method_key)
        if key not in self._programs:
            try:
                self._programs[key] = variant_program.program(variant, self._skeleton, problem)
            except IllegalTransformation as refusal:
                self._programs[key] = refusal.reason
        program = self._programs[key]
        return program if isinstance(program, str) else variant_program.padded(program, variant)
