"""The interface of plans: a time step as stretches of code for kerncraft, and the work in each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from autotune.codegen.c.kernel_values import KernelText
from autotune.domain.variant import Candidate


class NamedStretch(Protocol):
    """A stretch of a program, by its names."""

    @property
    def sweep(self) -> str:
        """The sweep that it is of."""

    @property
    def kernel(self) -> str:
        """The kernel of the program that the sweep computes."""


class NamedStretches(Protocol):
    """The stretches of a program."""

    @property
    def stretches(self) -> Sequence[NamedStretch]:
        """Every stretch, in program order."""


class PlannedStretch(NamedStretch, Protocol):
    """A stretch of a program with its text for kerncraft."""

    @property
    def text(self) -> KernelText:
        """Its text for kerncraft."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StretchWork:
    """What the threads of a node do in a stretch within one time step."""

    text: str
    sizes: Mapping[str, int]
    """Of the text, for the part of one core."""
    iterations: float
    """Of the innermost loop, all threads together, as if all had the largest part."""


class StepPlan(Protocol):
    """One time step of a program as stretches for kerncraft."""

    @property
    def barriers(self) -> float:
        """Barriers of a time step."""

    @property
    def on_grid(self) -> bool:
        """Whether its stretches sweep over grids."""

    @property
    def stretches(self) -> Sequence[PlannedStretch]:
        """Every stretch, in program order."""

    def work(self, candidate: Candidate) -> list[list[StretchWork]]:
        """For every node that may be the slowest, the work in every stretch."""

    def leading(self, candidate: Candidate, pad_lines: int, line: int) -> int:
        """Elements from one row to the next of the arrays of a candidate, with lines
        of padding.
        """
