"""In what the workloads of generated code differ from each other."""

from collections.abc import Mapping
from typing import Protocol

from autotune.codegen.tree.loop_tree import StepProgram
from autotune.domain.problem import AnyProblem
from autotune.domain.variant import Candidate, ExecutionLayout


class GeneratedKind(Protocol):
    """A kind of problems that code is generated for; its problems are of one class."""

    @property
    def title(self) -> str:
        """One of its problems in words."""

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that are for it, the usual one first."""

    def limited(self, problem: AnyProblem) -> bool:
        """Whether what is read lies near to what is computed, as transformations may need it."""

    def misfit(self, problem: AnyProblem, layout: ExecutionLayout) -> str | None:
        """Why the ranks of a layout cannot exchange its way; None where they can."""

    def largest_parts(
        self, program: StepProgram, problem: AnyProblem, threads: int
    ) -> Mapping[str | None, int]:
        """Dimension of tiles (None: components) to what the largest part of a thread has of it."""

    def features(self, candidate: Candidate) -> Mapping[str, int] | None:
        """What a learned model may know of a candidate, by name; None where nothing is stated."""
