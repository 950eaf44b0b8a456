"""The protocol of a workload: the differences between IVPs, stencils, programs and new kinds."""

import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, Self

from autotune.domain.machine import Machine
from autotune.domain.problem import AnyProblem
from autotune.domain.ranking import Ranked, Ranking
from autotune.domain.setup import Setup
from autotune.domain.variant import Build, Candidate, ExecutionLayout, Value
from autotune.errors import Fault, InputError
from autotune.measuring.candidates.base import Measurer
from autotune.models.engines.base import CandidatePredictor, CompiledSweep
from autotune.progress import Progress
from autotune.units import Bytes, number_of_many

MOST_ILLEGAL = 1_000_000
"""Illegal combinations that are listed, or looked through for reasons, at most."""
SAME_PROGRAM = "same program as "
"""Beginning of the reason of a combination that gives the program of another one."""
_FEW = 10
"""Where fewer than one in so many combinations are legal, the main reason is told."""
IllegalCombination = tuple[str, AnyProblem, str]
"""Label, problem and reason."""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """The combinations that the constraints of a space exclude for a problem: counted, and listed
    only when asked for.
    """

    problem: AnyProblem
    count: int
    listing: Callable[[], Iterator[IllegalCombination]]


@dataclass(frozen=True, slots=True)
class IllegalCombinations(Collection[IllegalCombination]):
    """Illegal combinations: those listed, and those that a space excludes."""

    listed: Sequence[IllegalCombination]
    excluded: Sequence[Exclusion] = ()

    def __len__(self) -> int:
        return min(self.count, sys.maxsize)

    @property
    def count(self) -> int:
        """How many there are; a length has an end."""
        return len(self.listed) + sum(exclusion.count for exclusion in self.excluded)

    def __iter__(self) -> Iterator[IllegalCombination]:
        yield from self.listed
        for exclusion in self.excluded:
            yield from exclusion.listing()

    def __contains__(self, item: object) -> bool:
        return any(item == combination for combination in self)

    def of(self, problem: AnyProblem) -> int:
        """The number of those of a problem."""
        listed = sum(other.key == problem.key for _, other, _ in self.listed)
        excluded = (e.count for e in self.excluded if e.problem.key == problem.key)
        return listed + sum(excluded)


@dataclass(frozen=True, slots=True)
class Count:
    """How many legal combinations there are, or how many there are at least."""

    value: int
    exact: bool = True

    def __mul__(self, other: "Count") -> "Count":
        return Count(self.value * other.value, self.exact and other.exact)

    def __add__(self, other: "Count") -> "Count":
        return Count(self.value + other.value, self.exact and other.exact)

    def __str__(self) -> str:
        """``4,553``, ``2.7e+10``, or ``more than 50,000``."""
        number = f"{self.value:,}" if self.value < 1e9 else number_of_many(self.value)
        return number if self.exact else f"more than {number}"


class CandidateSource(Protocol):
    """The legal candidates of a problem that has more than can be listed."""

    @property
    def count(self) -> Count:
        """How many there are."""

    @property
    def parameters(self) -> Mapping[str, tuple[Value, ...]]:
        """All values of each parameter."""

    def draw(self, count: int, chance: random.Random) -> list[Candidate]:
        """At most so many legal candidates at random, (nearly) all equally likely; some may be
        drawn twice.
        """

    def draw_rare(self, count: int, chance: random.Random) -> list[Candidate]:
        """At most so many legal candidates with values that ``draw`` hardly ever has, of parameters
        of few values, such as those of a condition that few combinations fulfil.
        """

    def recalled(
        self, parameters: Mapping[str, Value], build: Build, layout: ExecutionLayout
    ) -> Candidate | None:
        """The candidate with these values, build and layout; None where it is not legal."""

    def neighbours(self, candidate: Candidate, most: int, chance: random.Random) -> list[Candidate]:
        """At most so many legal candidates that differ from one in a single parameter, the build or
        the layout.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class EnumeratedSpace:
    """The legal candidates of a setup, and the illegal ones with their reasons.

    Of a problem with more legal candidates than can be listed, ``legal`` holds some, drawn at
    random, and ``sources`` gives others, by key of the problem.
    """

    legal: list[Candidate]
    illegal: IllegalCombinations
    sources: Mapping[str, CandidateSource] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()
    """What looks wrong about problems, in words."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user must know of the problems and of their legal candidates."""
        return (*self.doubts, *self.refusal_notes)

    @property
    def refusal_notes(self) -> tuple[str, ...]:
        """For each problem of which less than a tenth of the programs that its space allows can be
        made: the reason that most others have.
        """
        legal = Counter(candidate.problem.key for candidate in self.legal)
        refused: dict[str, list[IllegalCombination]] = {}
        for combination in self.illegal.listed:
            if not combination[2].startswith(SAME_PROGRAM):
                refused.setdefault(combination[1].key, []).append(combination)
        notes: list[str] = []
        for key, combinations in refused.items():
            if legal[key] * _FEW >= legal[key] + len(combinations):
                continue
            ((reason, count),) = Counter(why for _, _, why in combinations).most_common(1)
            notes.append(
                f"{combinations[0][1].label}: {legal[key]:,} of"
                f" {legal[key] + len(combinations):,} combinations that the space allows are legal;"
                f" {count:,} are not because {reason} (autotune variants --illegal)"
            )
        return tuple(notes)


class Workload(Protocol):
    """One kind of problems with the setup of a study: what can be varied, predicted, measured.

    During a study the methods are called in this order. ``check_engine`` is called for each
    requested engine, and ``check`` if something is going to be measured; both come before anything
    that takes time. ``candidates`` lists what may be chosen. ``predictor`` gives an engine, which
    predicts all of them. ``baseline`` names the candidate of a problem that all others are compared
    with. ``measurer`` builds, verifies and times the chosen candidates, one by one. It judges
    results by a reference that is computed in another way. ``versions`` names the tools that were
    used.

    The other methods answer questions about a candidate: ``sources`` gives its source files,
    ``features`` the inputs for learned models, ``loops`` its compiled loops. ``at`` gives the same
    workload for other problems or layouts, as a map over sizes needs it.

    A workload gets everything it needs from its setup. It caches what it has computed and serves
    any number of calls. To add a kind, write a class with these methods and pass an object of it:
    any function that takes a workload accepts it. It brings what the methods return:

    - problems with the properties of ``AnyProblem`` (``domain/problem.py``) and their
      ``ProblemFacts``, and a ``StudySubject`` (``domain/setup.py``) of the same ``family``;
    - a ``CandidatePredictor`` (``models/engines/base.py``) for each name in ``engines``;
    - a ``Measurer`` (``measuring/candidates/base.py``).
    """

    @property
    def setup(self) -> Setup:
        """The setup of the study."""

    @property
    def title(self) -> str:
        """The kind of its problems in words: ``a stencil``."""

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that can predict the workload, the default first."""

    @property
    def predicted(self) -> bool:
        """Whether its candidates get predicted times; if not, no machine is calibrated."""

    @property
    def refusals(self) -> Mapping[str, Fault]:
        """Options of commands that the workload does not support, such as ``--phases``, and why."""

    def at(self, setup: Setup) -> Self:
        """The same workload with another setup of the same kind."""

    def check_engine(self, engine: str) -> None:
        """Raise InputError for an engine that cannot predict the workload, or not on this host."""

    def check(self) -> None:
        """Raise InputError or MissingTool, with its place, for what candidates lack on this host.

        Compilers, packages and tools are checked; one error lists everything that is missing.
        """

    def candidates(self, cores: int) -> EnumeratedSpace:
        """Every candidate on a machine with ``cores`` cores, legal or with the reason why not.

        Raises InputError for a layout with more threads than cores, and if no candidate is legal.
        """

    def baseline(self, problem: AnyProblem, cores: int, build: Build) -> Candidate:
        """The candidate that others are compared with, on the most threads of one rank."""

    def predictor(
        self, engine: str, machine: Machine, progress: Progress, until: float = math.inf
    ) -> AbstractContextManager[CandidatePredictor]:
        """An engine by name, with its workers running until the block is left.

        ``until``: the time.monotonic() from which it predicts in the cheapest way that it has.
        """

    def measurer(self, machine: Machine) -> Measurer:
        """The object that builds, verifies and times candidates on this host."""

    def sources(self, candidate: Candidate, folder: Path) -> Mapping[str, str]:
        """The source files of a candidate: file name to text.

        ``folder``: the folder that the files are going to be in.
        """

    def loops(
        self, entry: Ranked, machine: Machine, progress: Progress
    ) -> tuple[CompiledSweep, ...]:
        """The compiled sweeps of a ranked candidate; empty if the engine compiles nothing."""

    def stored_bytes(self, candidate: Candidate) -> Bytes | None:
        """Bytes that the arrays of a candidate take on a node; None if they are not known."""

    def features(self, candidate: Candidate) -> Mapping[str, int] | None:
        """Inputs for learned models about a candidate, by name; None if there are none."""

    def versions(self) -> Mapping[str, str]:
        """The versions by name of the tools used besides the compilers of the builds."""

    def unpredicted(self, rankings: Sequence[Ranking], machine: Machine) -> str:
        """The text to print instead of a ranking if nothing is ``predicted``; else empty."""


def refuse(workload: Workload, option: str) -> None:
    """Raise InputError if a workload does not support the option of a command."""
    fault = workload.refusals.get(option)
    if fault is not None:
        raise InputError(fault)
