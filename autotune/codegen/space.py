"""The candidate space: every combination of parameters, legal or with the reason why not."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

from autotune.codegen import ir
from autotune.codegen.programs import Programs
from autotune.errors import Fault, InputError
from autotune.problem import Problem
from autotune.setup import Setup
from autotune.space import same
from autotune.variant import Build, Candidate, Value, Variant


@dataclass(frozen=True, slots=True, kw_only=True)
class Enumerated:
    """The candidates of a setup; the illegal ones as (label, problem, reason)."""

    legal: list[Candidate]
    illegal: list[tuple[str, Problem, str]]


def enumerate_candidates(
    setup: Setup, machine_cores: int, programs: Programs | None = None
) -> Enumerated:
    """Parameters x problems x builds x threads, the baseline first, then in the space's order.

    Illegal are: what a constraint of the space leaves out, what a transformation refuses, and
    what is the same program as a candidate before it. Raises InputError for more threads than
    ``machine_cores``. ``programs`` keeps the programs for later use.
    """
    counts = thread_counts(setup, machine_cores)
    combinations = _combinations(setup)
    maker = _Maker(setup, programs or Programs(setup.skeleton))
    legal: list[Candidate] = []
    illegal: list[tuple[str, Problem, str]] = []
    for problem in setup.problems:
        for build, threads in product(setup.builds, counts):
            seen: dict[str, str] = {}
            for values in combinations:
                made = maker.make(values, problem, threads)
                candidate = Candidate(
                    variant=made.variant, problem=problem, build=build, threads=threads
                )
                reason = made.reason
                if reason is None and made.key in seen:
                    reason = f"same program as {seen[made.key]}"
                if reason is None:
                    seen[made.key] = made.variant.label
                    legal.append(candidate)
                else:
                    illegal.append((candidate.label, problem, reason))
    return Enumerated(legal=legal, illegal=illegal)


def baseline(setup: Setup, problem: Problem, threads: int, build: Build) -> Candidate:
    """The baseline of the space on a problem; its first combination where it names none."""
    values = next(iter(_combinations(setup)))
    return Candidate(variant=_variant(setup, values), problem=problem, build=build, threads=threads)


def thread_counts(setup: Setup, machine_cores: int) -> list[int]:
    """The thread counts of a setup as numbers, ascending, each once.

    Raises InputError where one is below 1 or exceeds ``machine_cores``.
    """
    counts = [machine_cores if count == "all" else count for count in setup.threads]
    faults = [
        Fault(
            where=setup.place(f"threads.{index}"),
            found=f"{count} threads",
            expected=f"from 1 to {machine_cores}, the cores of the machine",
        )
        for index, count in enumerate(counts)
        if not 1 <= count <= machine_cores
    ]
    if faults:
        raise InputError(*faults)
    return sorted(set(counts))


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

    def __init__(self, setup: Setup, programs: Programs) -> None:
        self._setup = setup
        self._programs = programs
        self._keys: dict[tuple[int, int], str] = {}

    def make(self, values: Mapping[str, Value], problem: Problem, threads: int) -> _Made:
        variant = _variant(self._setup, values)
        reason = self._setup.space.forbidden(values, problem.ivp.limited)
        if reason is not None:
            return _Made(variant, "", reason)
        program = self._programs.make(variant, problem)
        if isinstance(program, str):
            return _Made(variant, "", program)
        return _Made(variant, self._key(program, _largest_block(program, problem.n, threads)), None)

    def _key(self, program: ir.Program, block: int) -> str:
        """Equal for programs that do the same on blocks of this size."""
        effective = min(block, max(_tile_sizes(program.body), default=0))
        known = (id(program.body), effective)
        if known not in self._keys:
            body = _without_pointless_tiles(program.body, block)
            self._keys[known] = hashlib.sha256(repr(body).encode()).hexdigest()
        return f"{self._keys[known]}-{program.pad_lines}"


def _largest_block(program: ir.Program, n: int, threads: int) -> int:
    blocks = -(-n // program.granule)
    return program.granule * -(-blocks // threads)


def _tile_sizes(block: ir.Block) -> list[int]:
    sizes = []
    for node in block.nodes:
        if isinstance(node, ir.Tiles):
            sizes.append(node.size)
        if isinstance(node, ir.Tiles | ir.Repeat):
            sizes += _tile_sizes(node.body)
    return sizes


def _without_pointless_tiles(block: ir.Block, components: int) -> ir.Block:
    """Tiles that hold a whole block of ``components`` do nothing."""
    nodes: list[ir.Node] = []
    for node in block.nodes:
        if isinstance(node, ir.Tiles | ir.Repeat):
            body = _without_pointless_tiles(node.body, components)
            if isinstance(node, ir.Tiles) and node.size >= components:
                nodes.extend(body.nodes)
            else:
                nodes.append(replace(node, body=body))
        else:
            nodes.append(node)
    return ir.Block(tuple(nodes))
