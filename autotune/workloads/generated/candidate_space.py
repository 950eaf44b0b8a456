"""The candidate space: every combination of parameters, legal or with the reason why not."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from autotune.codegen import communication
from autotune.codegen.tree import loop_tree, regions
from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.domain.problem import AnyProblem, Problem, ProgramProblem, StencilProblem, generated
from autotune.domain.program import Program
from autotune.domain.setup import Setup
from autotune.domain.space import same
from autotune.domain.variant import Build, Candidate, Communication, Placement, Value, Variant
from autotune.errors import Fault, InputError
from autotune.workloads.program import program_space


@dataclass(frozen=True, slots=True, kw_only=True)
class EnumeratedSpace:
    """The legal candidates of a setup; the illegal ones as (label, problem, reason)."""

    legal: list[Candidate]
    illegal: list[tuple[str, AnyProblem, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionLayout:
    """Nodes, ranks and threads of a run, and how its ranks communicate."""

    nodes: int
    ranks: int
    """On all nodes together."""
    threads: int
    communication: Communication
    placement: Placement = "compact"


def enumerate_candidates(
    setup: Setup, machine_cores: int, programs: SkeletonPrograms | None = None
) -> EnumeratedSpace:
    """Parameters x problems x builds x layouts x communications, the baseline first.

    Illegal are: what a constraint of the space leaves out, what a transformation refuses, a
    dimension that a stencil does not have, a communication that the problem does not allow, and
    what is the same program as a candidate before it. Raises InputError for a layout with more
    threads on a node than ``machine_cores``, and where the constraints of a program of the user's
    leave nothing.
    ``programs`` keeps the programs of generated code for later use.
    """
    everywhere = spreads(setup, machine_cores)
    if setup.program is not None:
        return _of_program(setup, everywhere)
    combinations = _combinations(setup)
    maker = _Maker(setup, programs or SkeletonPrograms(setup.skeleton))
    legal: list[Candidate] = []
    illegal: list[tuple[str, AnyProblem, str]] = []
    for problem in setup.problems:
        for build, spread in product(setup.builds, everywhere):
            seen: dict[str, str] = {}
            for values in combinations:
                made = maker.make(values, problem, spread)
                candidate = _candidate(made.variant, problem, build, spread)
                reason = made.reason
                if reason is None and made.key in seen:
                    reason = f"same program as {seen[made.key]}"
                if reason is None:
                    seen[made.key] = made.variant.label
                    legal.append(candidate)
                else:
                    illegal.append((candidate.label, problem, reason))
    return EnumeratedSpace(legal=legal, illegal=illegal)


def _of_program(setup: Setup, everywhere: Sequence[ExecutionLayout]) -> EnumeratedSpace:
    """The space of an external program.

    An illegal combination is listed with one layout only: it is illegal in all of them, or for its
    number of threads.
    """
    legal: list[Candidate] = []
    illegal: list[tuple[str, AnyProblem, str]] = []
    for problem in setup.problems:
        assert isinstance(problem, ProgramProblem)
        program = problem.program
        by_threads = any("threads" in c.require.names for c in program.constraints)
        sifted: dict[int, program_space.ParameterCombinations] = {}
        most = max(spread.threads for spread in everywhere)
        for build, spread in product(setup.builds, everywhere):
            threads = spread.threads if by_threads else 0
            if threads not in sifted:
                sifted[threads] = program_space.sift(problem, threads)
                for values, constraint in sifted[threads].illegal:
                    candidate = _candidate(_of_values(program, values), problem, build, spread)
                    illegal.append((candidate.label, problem, constraint.words))
            legal += [
                _candidate(_of_values(program, values), problem, build, spread)
                for values in sifted[threads].legal
            ]
        program_space.check_baseline(problem, most)
    return EnumeratedSpace(legal=legal, illegal=illegal)


def _of_values(program: Program, values: Mapping[str, Value]) -> Variant:
    return Variant(
        skeleton=program.name,
        definition=program.definition,
        transformations=(),
        parameters=dict(values),
    )


def baseline(setup: Setup, problem: AnyProblem, machine_cores: int, build: Build) -> Candidate:
    """The baseline of the space on a problem, on the most threads of one rank, else of several.

    The first combination of the space where it names none.
    """
    if setup.program is not None:
        variant = _of_values(setup.program, setup.program.baseline)
    else:
        variant = _variant(setup, next(iter(_combinations(setup))))
    legal = [spread for spread in spreads(setup, machine_cores) if _unfit(problem, spread) is None]
    most = max(
        legal or spreads(setup, machine_cores),
        key=lambda spread: (spread.nodes, spread.ranks * spread.threads, -spread.ranks),
    )
    return _candidate(variant, problem, build, most)


def spreads(setup: Setup, machine_cores: int) -> list[ExecutionLayout]:
    """The layouts of a setup, fewest threads first, each once per kind of communication.

    Raises InputError where one has more threads on a node than ``machine_cores``.
    """
    faults: list[Fault] = []
    layouts: list[ExecutionLayout] = []
    for index, layout in enumerate(setup.layouts):
        per_rank = max(1, machine_cores // layout.ranks)
        threads = per_rank if layout.threads == "all" else layout.threads
        if layout.ranks * threads > machine_cores:
            faults.append(
                Fault(
                    where=setup.place_of_layout(index),
                    found=f"{layout.ranks} x {threads} threads on a node"
                    if layout.ranks > 1
                    else f"{threads} threads",
                    expected=f"from 1 to {machine_cores}, the cores of the machine",
                )
            )
            continue
        ranks = layout.nodes * layout.ranks
        ways: tuple[Communication, ...] = setup.communications if ranks > 1 else ("none",)
        # one thread, or one on every core, is placed the same in any way
        free = 1 < threads < machine_cores
        layouts += [
            ExecutionLayout(
                nodes=layout.nodes,
                ranks=ranks,
                threads=threads,
                communication=way,
                placement=layout.placement if free else "compact",
            )
            for way in ways
        ]
    if faults:
        raise InputError(*faults)
    return sorted(
        dict.fromkeys(layouts),
        key=lambda spread: (spread.nodes, spread.ranks * spread.threads, spread.ranks),
    )


def _candidate(
    variant: Variant, problem: AnyProblem, build: Build, spread: ExecutionLayout
) -> Candidate:
    return Candidate(
        variant=variant,
        problem=problem,
        build=build,
        threads=spread.threads,
        ranks=spread.ranks,
        nodes=spread.nodes,
        communication=spread.communication,
        placement=spread.placement,
    )


def _unfit(problem: AnyProblem, spread: ExecutionLayout) -> str | None:
    """Why the ranks of a layout cannot exchange data this way; None where they can."""
    if spread.ranks == 1:
        return None
    problem = generated(problem)
    if isinstance(problem, StencilProblem):
        return "the grid of a stencil is not spread over ranks: a layout of one rank is needed"
    granule = regions.granule(problem.ivp)
    return communication.legal(
        problem.ivp, problem.size, granule, spread.ranks, spread.communication
    )


def _combinations(setup: Setup) -> list[dict[str, Value]]:
    space = setup.space
    every = list(space.combinations())
    first = [v for v in every if all(same(v[k], b) for k, b in space.baseline.items())]
    return first[:1] + [v for v in every if v is not first[0]]


def _variant(setup: Setup, values: Mapping[str, Value]) -> Variant:
    return Variant(
        skeleton=setup.skeleton.name,
        definition=setup.skeleton.definition,
        transformations=setup.space.transformations(values),
        parameters=dict(values),
    )


@dataclass(frozen=True, slots=True)
class _Made:
    variant: Variant
    key: str
    """Equal for equal programs."""
    reason: str | None


class _Maker:
    """Makes the variants of a setup and tells which of their programs are the same."""

    def __init__(self, setup: Setup, programs: SkeletonPrograms) -> None:
        self._setup = setup
        self._programs = programs
        self._keys: dict[tuple[int, tuple[int, ...]], str] = {}
        self._refusals: dict[int, str | None] = {}

    def make(
        self, values: Mapping[str, Value], problem: AnyProblem, spread: ExecutionLayout
    ) -> _Made:
        variant = _variant(self._setup, values)
        limited = not isinstance(problem, Problem) or problem.ivp.limited
        reason = self._setup.space.forbidden(values, limited)
        reason = reason or _unfit(problem, spread)
        if reason is not None:
            return _Made(variant, "", reason)
        program = self._programs.make(variant, problem)
        if isinstance(program, str):
            return _Made(variant, "", program)
        if spread.ranks > 1 and (refused := self._refusal(program)) is not None:
            return _Made(variant, "", refused)
        limits = _limits(program, problem, spread.ranks * spread.threads)
        return _Made(variant, self._key(program, limits), None)

    def _refusal(self, program: loop_tree.StepProgram) -> str | None:
        body = id(program.body)
        if body not in self._refusals:
            self._refusals[body] = communication.refusal(program)
        return self._refusals[body]

    def _key(self, program: loop_tree.StepProgram, limits: "_Limits") -> str:
        """A key that is equal for programs that do the same on blocks of this size."""
        tiles = list(_tiles(program.body))
        effective = tuple(
            min(limit, max((t.size for t in tiles if t.dimension == dimension), default=0))
            for dimension, limit in limits.items()
        )
        program_id = (id(program.body), effective)
        if program_id not in self._keys:
            body = _without_pointless_tiles(program.body, limits)
            self._keys[program_id] = hashlib.sha256(repr(body).encode()).hexdigest()
        return f"{self._keys[program_id]}-{program.pad_lines}"


_Limits = Mapping[str | None, int]
"""Dimension of tiles (None: components) to the largest number of points a thread owns."""


def _limits(program: loop_tree.StepProgram, problem: AnyProblem, threads: int) -> _Limits:
    if isinstance(problem, StencilProblem):
        slowest, *others = zip(problem.stencil.dimensions, problem.extents, strict=True)
        return {slowest[0]: -(-slowest[1] // threads), **dict(others)}
    blocks = -(-problem.n // program.granule)
    return {None: program.granule * -(-blocks // threads)}


def _tiles(block: loop_tree.NodeBlock) -> Iterator[loop_tree.Tiles]:
    for node in block.nodes:
        if isinstance(node, loop_tree.Tiles):
            yield node
        if isinstance(node, loop_tree.Tiles | loop_tree.Repeat):
            yield from _tiles(node.body)


def _without_pointless_tiles(block: loop_tree.NodeBlock, limits: _Limits) -> loop_tree.NodeBlock:
    """The block without loops over tiles that hold all components of a thread."""
    nodes: list[loop_tree.Node] = []
    for node in block.nodes:
        if isinstance(node, loop_tree.Tiles | loop_tree.Repeat):
            body = _without_pointless_tiles(node.body, limits)
            if isinstance(node, loop_tree.Tiles) and node.size >= limits[node.dimension]:
                nodes.extend(body.nodes)
            else:
                nodes.append(replace(node, body=body))
        else:
            nodes.append(node)
    return loop_tree.NodeBlock(tuple(nodes))
