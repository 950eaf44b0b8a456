"""What a workload does: everything in which IVPs, stencils, programs and your own kinds differ."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from autotune.domain.machine import Machine
from autotune.domain.problem import AnyProblem
from autotune.domain.ranking import Ranked, Ranking
from autotune.domain.setup import Setup
from autotune.domain.variant import Build, Candidate
from autotune.errors import Fault, InputError
from autotune.measuring.candidates.base import Measurer
from autotune.models.engines.base import CandidatePredictor, CompiledSweep
from autotune.progress import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class EnumeratedSpace:
    """The candidates of a setup; the illegal ones as (label, problem, reason)."""

    legal: list[Candidate]
    illegal: list[tuple[str, AnyProblem, str]]


class Workload(Protocol):
    """One kind of problems with the setup of a study: what can be varied, predicted, measured.

    In the life of a study its methods are called in this order. ``check_engine`` is called for each
    engine that is asked for, and ``check`` where something is going to be measured: both before
    anything takes time. ``candidates`` lists what may be chosen. ``predictor`` gives an engine,
    which predicts all of them. ``baseline`` names the candidate of a problem that all others are
    compared with. ``measurer`` builds, verifies and times the candidates that are chosen, one by
    one; what is right is for the measurer to know, by a reference that is computed another way.
    ``versions`` says with which tools that was done.

    The other methods answer questions about a candidate: ``sources`` what it is made of,
    ``features`` what a learned model may know of it, ``loops`` what its compiled loops are like.
    ``at`` gives the same workload for other problems or layouts, as a map over sizes needs it.

    A workload knows what it needs by its setup. It keeps what it has computed, and one workload
    serves any number of calls. Extend by passing an object: whatever takes a workload takes any.
    """

    @property
    def setup(self) -> Setup:
        """The study that it is for."""

    @property
    def title(self) -> str:
        """One of its problems in words: ``a stencil``."""

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that predict it, the usual one first."""

    @property
    def predicted(self) -> bool:
        """Whether its candidates have predicted times; where not, no machine is calibrated."""

    @property
    def refusals(self) -> Mapping[str, Fault]:
        """What cannot be done with it: the option of a command, such as ``--phases``, and why."""

    def at(self, setup: Setup) -> Self:
        """The same workload with another setup of the same kind."""

    def check_engine(self, engine: str) -> None:
        """Raise InputError for an engine that is not for it, or lacks something on this host."""

    def check(self) -> None:
        """Raise InputError or MissingTool, with its place, for what candidates lack on this host.

        Compilers, packages and tools are looked at; all that is missing is told at once.
        """

    def candidates(self, cores: int) -> EnumeratedSpace:
        """Every candidate on a machine with ``cores`` cores, legal or with the reason why not.

        Raises InputError for a layout with more threads than that, and where nothing is legal.
        """

    def baseline(self, problem: AnyProblem, cores: int, build: Build) -> Candidate:
        """The candidate that others are compared with, on the most threads of one rank."""

    def predictor(
        self, engine: str, machine: Machine, progress: Progress
    ) -> AbstractContextManager[CandidatePredictor]:
        """An engine by name, with its workers running until the block is left."""

    def measurer(self, machine: Machine) -> Measurer:
        """Who builds, verifies and times candidates on this host."""

    def sources(self, candidate: Candidate, folder: Path) -> Mapping[str, str]:
        """What a candidate is made of: file name to text.

        ``folder``: where the files are going to lie.
        """

    def loops(
        self, entry: Ranked, machine: Machine, progress: Progress
    ) -> tuple[CompiledSweep, ...]:
        """The sweeps of a ranked candidate as they were compiled; none where nobody compiles."""

    def features(self, candidate: Candidate) -> Mapping[str, int] | None:
        """What a learned model may know of a candidate, by name; None where nothing is stated."""

    def versions(self) -> Mapping[str, str]:
        """Name to version of the tools that take part beside the compilers of the builds."""

    def unpredicted(self, rankings: Sequence[Ranking], machine: Machine) -> str:
        """What to say instead of a ranking where nothing is ``predicted``; else empty."""


def refuse(workload: Workload, option: str) -> None:
    """Raise InputError where the option of a command is not for a workload."""
    fault = workload.refusals.get(option)
    if fault is not None:
        raise InputError(fault)
