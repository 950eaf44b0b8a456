"""Makes the program of a variant: loop nests are made, transformed, lowered and checked."""

from collections.abc import Mapping
from dataclasses import replace

from autotune.codegen.grid import grid_program
from autotune.codegen.tree import loop_nests, loop_tree, regions, transform
from autotune.codegen.tree.loop_nests import (
    EvaluateStatement,
    Nest,
    NestLoop,
    Node,
    Nodes,
    PipelineNest,
    ReduceStatement,
    StoreStatement,
)
from autotune.codegen.tree.lower import Coefficients, Outliner, version_name
from autotune.codegen.tree.races import races
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.kernel import Application, Kernel
from autotune.domain.problem import AnyProblem, ButcherTableau, Problem, StencilProblem, generated
from autotune.domain.skeleton import (
    CallStep,
    CommStep,
    LoopStep,
    Skeleton,
    Step,
    SwapStep,
    SyncStep,
)
from autotune.domain.variant import (
    Block,
    Contract,
    Fuse,
    FuseTiles,
    Interchange,
    Pad,
    Pipeline,
    Tile,
    Transformation,
    Unroll,
    Variant,
    Wavefront,
)
from autotune.language.expression import Sym, number


def program(variant: Variant, skeleton: Skeleton, problem: AnyProblem) -> loop_tree.StepProgram:
    """The program of a variant for a problem; ``IllegalTransformation`` where there is none.

    It depends on the method, the corrector steps and the IVP of the problem, or on its stencil, but
    not on the problem size.
    """
    problem = generated(problem)
    if isinstance(problem, StencilProblem):
        return padded(grid_program.program(variant, skeleton, problem), variant)
    tree = canonical(skeleton, problem)
    step = regions.granule(problem.ivp)
    if problem.ivp.periodic and any(isinstance(t, Pipeline) for t in variant.transformations):
        raise IllegalTransformation(
            f"{problem.ivp.name} is periodic: the last components of a corrector step need the"
            " first of the step before, so the steps cannot follow one another along y"
        )
    for transformation in variant.transformations:
        tree = apply(tree, transformation, step)
    arrays, windows = _storage(tree, skeleton, problem.method)
    outliner = Outliner(
        problem.ivp,
        coefficients(skeleton, problem.method),
        _stored(skeleton),
        frozenset(window.array for window in windows),
    )
    result = loop_tree.StepProgram(
        body=outliner.block(tree),
        arrays=arrays,
        windows=windows,
        pad_lines=0,
        stages=problem.method.stages,
        granule=step,
    )
    conflicts = races(result)
    if conflicts:
        raise IllegalTransformation(str(conflicts[0]))
    return padded(result, variant)


def padded(program: loop_tree.StepProgram, variant: Variant) -> loop_tree.StepProgram:
    """The program with the leading dimension that the variant asks for; this is always legal."""
    lines = [t.lines for t in variant.transformations if isinstance(t, Pad)]
    return replace(program, pad_lines=lines[-1] if lines else 0)


def canonical(skeleton: Skeleton, problem: Problem) -> Nodes:
    """The loop nests of one time step as the skeleton states them, before any transformation."""
    counts = {"s": problem.method.stages, "m": problem.correctors}

    def nodes(steps: tuple[Step, ...]) -> Nodes:
        return tuple(node(step) for step in steps)

    def node(step: Step) -> Node:
        match step:
            case CallStep(kernel=name):
                return _nest(skeleton.kernels[name], skeleton, counts["s"])
            case CommStep(array=array):
                return loop_tree.Comm(array)
            case SyncStep():
                return loop_tree.Sync()
            case SwapStep(first=first, second=second):
                return loop_tree.Swap(first, second)
            case LoopStep(variable=variable, count=count, body=body):
                return NestLoop(variable, 0, int(number(count, counts)), nodes(body))

    return nodes(skeleton.steps)


def _nest(kernel: Kernel, skeleton: Skeleton, stages: int) -> Nest:
    if isinstance(kernel.evaluation, Application):
        raise IllegalTransformation(
            f"kernel {kernel.name} applies a stencil: the problem must be one"
        )
    if kernel.evaluation is not None:
        statement: Node = EvaluateStatement(
            kernel.target, kernel.evaluation.argument, kernel.evaluation.time
        )
    else:
        assert kernel.value is not None
        if kernel.reduce is None:
            statement = StoreStatement(kernel.target, kernel.value)
        else:
            result = kernel.result or Sym("sum")
            statement = ReduceStatement(kernel.target, kernel.value, kernel.reduce, result)
    body: Nodes = (statement,)
    for loop in reversed(kernel.loops):
        end = None if skeleton.dimensions[loop] == "n" else stages
        body = (NestLoop(loop, 0, end, body),)
    return Nest(kernel.name, body)


def apply(tree: Nodes, transformation: Transformation, granule: int) -> Nodes:
    """The tree after one transformation of loops; ``IllegalTransformation`` where it is
    not legal.
    """
    match transformation:
        case Interchange(kernel=kernel, order=order):
            return transform.interchange(tree, kernel, order)
        case Fuse(first=first, second=second):
            return transform.fuse(tree, first, second)
        case Tile(kernel=kernel, size=size):
            _check_tile(size, granule)
            return transform.tile(tree, kernel, size)
        case FuseTiles(first=first, second=second, size=size, buffer=buffer):
            _check_tile(size, granule)
            return transform.fuse_tiles(tree, first, second, size, buffer)
        case Pipeline(loop=loop, block=block):
            _check_tile(block, granule)
            return transform.pipeline(tree, loop, block)
        case Contract(array=array):
            return transform.contract(tree, array)
        case Pad():
            return tree  # storage only
        case Block(kernel=kernel) | Unroll(kernel=kernel) | Wavefront(kernel=kernel):
            what = type(transformation).__name__
            raise IllegalTransformation(
                f"{what} is for sweeps over a grid, not for kernel {kernel}"
            )


def _check_tile(size: int, granule: int) -> None:
    if size < granule or size % granule:
        raise IllegalTransformation(f"a tile of {size} components is not a multiple of {granule}")


def coefficients(skeleton: Skeleton, method: ButcherTableau) -> Coefficients:
    """The coefficient arrays of the method that the skeleton names."""
    tables: Coefficients = {"A": method.A, "b": method.b, "c": method.c}
    return {name: tables[name] for name in skeleton.arrays if name in tables}


def _stored(skeleton: Skeleton) -> frozenset[str]:
    names = {name for name, extents in skeleton.arrays.items() if extents[-1] == "n"}
    return frozenset(names | {f"{name}_next" for name in names})


def _storage(
    tree: Nodes, skeleton: Skeleton, method: ButcherTableau
) -> tuple[tuple[tuple[str, int], ...], tuple[loop_tree.Window, ...]]:
    """The stored arrays that the tree uses, in the skeleton's order, second buffers after each, and
    the windows of its pipeline.

    In a pipeline the arrays that a stage writes before it reads them are windows: all but the
    state, which is exchanged with a second copy.
    """
    arrays = _arrays(tree, skeleton, method)
    pipeline = next((n for n in loop_nests.walk(tree) if isinstance(n, PipelineNest)), None)
    if pipeline is None:
        return arrays, ()
    swapped = {n for s in tree if isinstance(s, loop_tree.Swap) for n in (s.first, s.second)}
    written = loop_nests.writes(tree)
    contracted = {name for nest in loop_nests.nests(tree) for name in nest.contracted}
    windows: list[loop_tree.Window] = []
    kept: list[tuple[str, int]] = []
    for name, rows in arrays:
        if name == f"{pipeline.buffer}_next":
            continue
        if name == pipeline.buffer:
            windows += [
                loop_tree.Window(version_name(name, stage), rows, neighbours=True)
                for stage in range(len(pipeline.body) - 1)
            ]
        elif name in contracted:
            continue
        elif name in written and name not in swapped:
            windows.append(loop_tree.Window(name, rows, neighbours=False))
        else:
            kept.append((name, rows))
    return tuple(kept), tuple(windows)


def _arrays(tree: Nodes, skeleton: Skeleton, method: ButcherTableau) -> tuple[tuple[str, int], ...]:
    """The arrays that the tree uses, in the skeleton's order, second buffers after each."""
    used = loop_nests.reads(tree) | loop_nests.reads_around(tree) | loop_nests.writes(tree)
    rows: Mapping[str, int] = {
        name: 1 if len(extents) == 1 else method.stages
        for name, extents in skeleton.arrays.items()
        if extents[-1] == "n"
    }
    arrays: list[tuple[str, int]] = []
    for name, count in rows.items():
        arrays += [(n, count) for n in (name, f"{name}_next") if n in used]
    return tuple(arrays)
