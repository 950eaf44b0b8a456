"""The protocol for the differences between workloads with generated code."""

from collections.abc import Mapping
from typing import Protocol

from autotune.codegen.tree.loop_tree import StepProgram
from autotune.domain.problem import AnyProblem
from autotune.domain.variant import Candidate, ExecutionLayout


class GeneratedKind(Protocol):
    """A kind of problems that code is generated for; its problems are of one class."""

    @property
    def title(self) -> str:
        """The kind of its problems in words."""

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that can predict this kind, the default first."""

    def limited(self, problem: AnyProblem) -> bool:
        """Whether a problem reads only data near the computed point.

        Some transformations need this.
        """

    def near(self, problem: AnyProblem) -> bool:
        """Whether it does so, or would if the ends of its data were side by side."""

    def misfit(self, problem: AnyProblem, layout: ExecutionLayout, stages: int = 1) -> str | None:
        """Why the ranks of a layout cannot communicate in the layout's way; None if they can.

        ``stages``: of the pipeline of a program.
        """

    def largest_parts(
        self, program: StepProgram, problem: AnyProblem, threads: int
    ) -> Mapping[str | None, int]:
        """The extent of the largest part of a thread, for each dimension of tiles.

        The dimension None stands for components.
        """

    def longest_pipeline(self, program: StepProgram, problem: AnyProblem, part: int) -> int:
        """The components that a pipeline of a thread goes over at most: those of its part, and by
        how much its stages reach beyond it on both sides; 0 for a kind without pipelines.
        """

    def doubt(self, problem: AnyProblem) -> str | None:
        """What looks wrong about a problem, in words; None where nothing does."""

    def features(self, candidate: Candidate) -> Mapping[str, int] | None:
        """Inputs for learned models about a candidate, by name; None if there are none."""
