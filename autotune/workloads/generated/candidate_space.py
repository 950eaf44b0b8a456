"""The candidates of generated code: every combination, legal or with the reason why not."""

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from autotune.codegen import communication
from autotune.codegen.grid import plane_sweep
from autotune.codegen.tree import loop_tree
from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.domain.candidate_names import named
from autotune.domain.parameter_values import same
from autotune.domain.problem import AnyProblem
from autotune.domain.setup import Setup
from autotune.domain.variant import (
    Build,
    Candidate,
    ExecutionLayout,
    Value,
    Variant,
    case_label,
)
from autotune.errors import Fault, InputError
from autotune.workloads.base import (
    SAME_PROGRAM,
    EnumeratedSpace,
    Exclusion,
    IllegalCombination,
    IllegalCombinations,
)
from autotune.workloads.generated.base import GeneratedKind
from autotune.workloads.layouts import execution_layouts, largest


def enumerate_candidates(
    setup: Setup, kind: GeneratedKind, programs: SkeletonPrograms, cores: int
) -> EnumeratedSpace:
    """Parameters x problems x builds x layouts x communications, the baseline first.

    Illegal are combinations that a constraint of the space excludes, that a transformation refuses,
    that name a dimension that a stencil does not have, whose communication the problem does not
    allow, or that give the same program as an earlier candidate. Raises InputError for a layout
    with more threads on a node than ``cores``, and if no combination is legal.
    """
    layouts = execution_layouts(setup, cores)
    maker = _Maker(setup, kind, programs)
    legal: list[Candidate] = []
    illegal: list[IllegalCombination] = []
    excluded: list[Exclusion] = []
    for problem in setup.problems:
        programs_of = {layout: list(maker.make(problem, layout)) for layout in layouts}
        for build, layout in product(setup.builds, layouts):
            seen: dict[str, str] = {}
            case = case_label(problem, layout)
            excluded.append(maker.excluded(problem, case))
            for made in programs_of[layout]:
                reason = made.reason
                if reason is None and made.key in seen:
                    reason = f"{SAME_PROGRAM}{seen[made.key]}"
                if reason is None:
                    seen[made.key] = made.label
                    legal.append(
                        Candidate(variant=made.variant, problem=problem, build=build, layout=layout)
                    )
                else:
                    label = f"{made.label}{case}"
                    illegal.append((label, problem, reason))
    refused = IllegalCombinations(illegal, excluded)
    if not legal:
        raise InputError(_nothing_legal(setup, refused))
    doubts = (kind.doubt(problem) for problem in setup.problems)
    return EnumeratedSpace(
        legal=legal,
        illegal=refused,
        doubts=tuple(dict.fromkeys(doubt for doubt in doubts if doubt is not None)),
    )


def _nothing_legal(setup: Setup, illegal: IllegalCombinations) -> Fault:
    reasons = sorted({reason for _, _, reason in illegal})
    return Fault(
        where=setup.place("space"),
        found=f"no candidate of space {setup.space.name} is legal",
        expected="at least one",
        hint="; ".join(reasons[:3]),
    )


def baseline(
    setup: Setup, kind: GeneratedKind, problem: AnyProblem, cores: int, build: Build
) -> Candidate:
    """The baseline of the space for a problem, on the most threads of one rank, else of several.

    If the space names no baseline, it is the first combination.
    """
    first = {name: domain[0] for name, domain in setup.space.parameters.items()}
    values = {**first, **setup.space.baseline}
    layouts = execution_layouts(setup, cores)
    fitting = [layout for layout in layouts if kind.misfit(problem, layout) is None]
    layout = largest(fitting or layouts)
    return Candidate(variant=variant(setup, values), problem=problem, build=build, layout=layout)


def _first(setup: Setup, values: Mapping[str, Value]) -> bool:
    """Whether values are those of the baseline; so are the first ones where it names none."""
    return all(same(values[name], value) for name, value in setup.space.baseline.items())


def variant(setup: Setup, values: Mapping[str, Value]) -> Variant:
    """The variant of a combination of parameter values."""
    return Variant(
        skeleton=setup.skeleton.name,
        definition=setup.skeleton.definition,
        transformations=setup.space.transformations(values),
        parameters=dict(values),
    )


@dataclass(frozen=True, slots=True)
class _Made:
    variant: Variant
    label: str
    key: str
    """Equal for equal programs."""
    reason: str | None


class _Maker:
    """Makes the variants of a setup and detects variants that give the same program."""

    def __init__(self, setup: Setup, kind: GeneratedKind, programs: SkeletonPrograms) -> None:
        self._setup = setup
        self._kind = kind
        self._programs = programs
        self._variants: dict[tuple[bool, bool], list[_Made]] = {}
        self._keys: dict[tuple[int, tuple[int, ...]], str] = {}
        self._sweeps: dict[int, str] = {}
        self._refusals: dict[int, str | None] = {}

    def make(self, problem: AnyProblem, layout: ExecutionLayout) -> Iterator[_Made]:
        """Every combination that the space allows, for a problem in a layout."""
        misfit = self._kind.misfit(problem, layout)
        for made in self._allowed(problem):
            if misfit is not None:
                yield replace(made, reason=misfit)
            else:
                yield self._program(made, problem, layout)

    def excluded(self, problem: AnyProblem, case: str) -> Exclusion:
        """The combinations that the space excludes for a problem; ``case``: the end of labels."""
        space, limited, near = self._setup.space, *self._near(problem)

        def listing() -> Iterator[IllegalCombination]:
            for values, reason in space.judged(limited, near=near):
                if reason is not None:
                    yield f"{named(values)}{case}", problem, reason

        every = math.prod(map(len, space.parameters.values()))
        return Exclusion(problem, every - len(self._allowed(problem)), listing)

    def _near(self, problem: AnyProblem) -> tuple[bool, bool]:
        return self._kind.limited(problem), self._kind.near(problem)

    def _allowed(self, problem: AnyProblem) -> list[_Made]:
        """The variants of the combinations that the space allows, the baseline first."""
        limited, near = self._near(problem)
        if (limited, near) not in self._variants:
            first: list[_Made] = []
            others: list[_Made] = []
            for values in self._setup.space.allowed(limited, near=near):
                made = _Made(variant(self._setup, values), named(values), "", None)
                (others if first or not _first(self._setup, values) else first).append(made)
            self._variants[limited, near] = first + others
        return self._variants[limited, near]

    def _program(self, made: _Made, problem: AnyProblem, layout: ExecutionLayout) -> _Made:
        program = self._programs.make(made.variant, problem)
        if isinstance(program, str):
            return replace(made, reason=program)
        if layout.ranks > 1:
            stages = loop_tree.stages(program.body)
            refused = self._refusal(program) or self._kind.misfit(problem, layout, stages)
            if refused is not None:
                return replace(made, reason=refused)
        if layout.threads == 1 and any(loop_tree.waits(program.body)):
            return replace(made, reason="one thread has no neighbours to wait for")
        limits = self._kind.largest_parts(program, problem, layout.ranks * layout.threads)
        thin = plane_sweep.too_thin(program, limits, layout.threads)
        if thin is not None:
            return replace(made, reason=thin, key="")
        components = limits.get(None, 0)
        longest = self._kind.longest_pipeline(program, problem, components)
        return replace(made, key=self._key(program, limits, longest))

    def _refusal(self, program: loop_tree.StepProgram) -> str | None:
        key = id(program.body)
        if key not in self._refusals:
            self._refusals[key] = communication.refusal(program)
        return self._refusals[key]

    def _key(self, program: loop_tree.StepProgram, limits: "_Limits", longest: int) -> str:
        """A key that is equal for programs that do the same on blocks of this size, where a
        pipeline goes over ``longest`` components.
        """
        if program.plain is not None:
            kinds = {(s.align, s.lanes, s.lines, s.ahead) for s in _component_sweeps(program.body)}
            return f"{self._key(program.plain, limits, longest)}-{sorted(kinds, key=str)}"
        tiles = list(_tiles(program.body))
        effective = tuple(
            min(limit, max((t.size for t in tiles if t.dimension == dimension), default=0))
            for dimension, limit in limits.items()
        )
        key = (id(program.body), (*effective, longest))
        if key not in self._keys:
            body = _without_pointless_tiles(program.body, limits, longest)
            self._keys[key] = hashlib.sha256(self._text(body).encode()).hexdigest()
        return f"{self._keys[key]}-{program.pad_lines}"

    def _text(self, block: loop_tree.NodeBlock) -> str:
        """Everything that a block of code states, in words; programs share their sweeps."""
        return ";".join(self._words(node) for node in block.nodes)

    def _words(self, node: loop_tree.Node) -> str:
        if isinstance(node, loop_tree.LoopNode):
            outside = replace(node, body=loop_tree.NodeBlock(()))
            return f"{outside}{{{self._text(node.body)}}}"
        if not isinstance(node, loop_tree.AnySweep):
            return repr(node)
        if id(node) not in self._sweeps:
            self._sweeps[id(node)] = repr(node)
        return self._sweeps[id(node)]


def _component_sweeps(block: loop_tree.NodeBlock) -> Iterator[loop_tree.Sweep]:
    return (s for s in loop_tree.every_sweep(block) if isinstance(s, loop_tree.Sweep))


_Limits = Mapping[str | None, int]
"""Dimension of tiles (None: components) to what the largest part of a thread has of it."""


def _tiles(block: loop_tree.NodeBlock) -> Iterator[loop_tree.Tiles]:
    for node in block.nodes:
        if isinstance(node, loop_tree.Tiles):
            yield node
        if isinstance(node, loop_tree.LoopNode):
            yield from _tiles(node.body)


def _without_pointless_tiles(
    block: loop_tree.NodeBlock, limits: _Limits, longest: int
) -> loop_tree.NodeBlock:
    """A block of code without loops over tiles if one tile holds all components of a thread, and
    with pipelines of endless blocks where one block holds all.
    """
    nodes: list[loop_tree.Node] = []
    for node in block.nodes:
        if isinstance(node, loop_tree.Tiles | loop_tree.Repeat):
            body = _without_pointless_tiles(node.body, limits, longest)
            if isinstance(node, loop_tree.Tiles) and node.size >= limits[node.dimension]:
                nodes.extend(body.nodes)
            else:
                nodes.append(replace(node, body=body))
        elif isinstance(node, loop_tree.PipelineLoop) and not node.strips:
            nodes.append(replace(node, block=min(node.block, longest)))
        else:
            nodes.append(node)
    return loop_tree.NodeBlock(tuple(nodes))
