"""Makes the program of a variant: loop nests are made, transformed, lowered and checked."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from autotune.codegen.grid import grid_program
from autotune.codegen.tree import (
    hoist,
    jam,
    loop_nests,
    loop_tree,
    prefetching,
    regions,
    streaming,
    strips,
    transform,
    waits,
    whole_lines,
)
from autotune.codegen.tree.coefficients import Coefficients, tables
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
from autotune.codegen.tree.lower import Outliner, version_name
from autotune.codegen.tree.races import races
from autotune.codegen.tree.sweep_names import distinctly_named
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
    Align,
    Block,
    Contract,
    Fuse,
    FuseTiles,
    Hoist,
    InPlace,
    Interchange,
    Jam,
    NeighbourSync,
    Pad,
    Pipeline,
    Prefetch,
    SeveralSweeps,
    StreamStores,
    StripPlanes,
    Tile,
    Transformation,
    Unroll,
    Variant,
    Vectorize,
    WholeLines,
)
from autotune.language.expression import Bin, Expr, Num, Ref, Sym, number, rebuild, symbols


def program(
    variant: Variant, skeleton: Skeleton, problem: AnyProblem, *, called: bool = False
) -> loop_tree.StepProgram:
    """The program of a variant for a problem; ``IllegalTransformation`` where there is none.

    It depends on the method, the corrector steps and the IVP of the problem, or on its stencil, but
    not on the problem size. ``called``: a function of the caller evaluates the right-hand side.
    """
    pattern, sizes = pattern_of(variant)
    made = with_sizes(loops(pattern, skeleton, problem, called=called), sizes)
    return padded(with_vectors(made, variant, {}), variant)


def pattern_of(variant: Variant) -> tuple[Variant, Mapping[int, int]]:
    """The variant with stand-ins for sizes of tiles and of a pipeline's blocks, and the sizes by
    stand-in.

    The programs of variants with equal patterns differ in nothing but these sizes.
    """
    sizes: dict[int, int] = {}
    chosen: list[Transformation] = []
    for transformation in variant.transformations:
        stand_in = len(sizes) + 1
        match transformation:
            case Tile(size=size) | FuseTiles(size=size):
                chosen.append(replace(transformation, size=stand_in))
                sizes[stand_in] = size
            case Pipeline(block=size):
                chosen.append(replace(transformation, block=stand_in))
                sizes[stand_in] = size
            case _:
                chosen.append(transformation)
    return replace(variant, transformations=tuple(chosen)), sizes


def with_sizes(program: loop_tree.StepProgram, sizes: Mapping[int, int]) -> loop_tree.StepProgram:
    """The program with the sizes of tiles and blocks in the place of their stand-ins.

    Sizes are rounded up to whole granules of the program.
    """
    sizes = {at: -(-size // program.granule) * program.granule for at, size in sizes.items()}

    def put(block: loop_tree.NodeBlock) -> loop_tree.NodeBlock:
        return loop_tree.NodeBlock(tuple(changed(node) for node in block.nodes))

    def changed(node: loop_tree.Node) -> loop_tree.Node:
        match node:
            case loop_tree.Tiles(size=size, body=body):
                return replace(node, size=sizes[size], body=put(body))
            case loop_tree.PipelineLoop(block=size):
                return replace(node, block=sizes[size])
            case loop_tree.Repeat(body=body):
                return replace(node, body=put(body))
        return node

    return replace(program, body=put(program.body)) if sizes else program


def loops(
    variant: Variant, skeleton: Skeleton, problem: AnyProblem, *, called: bool = False
) -> loop_tree.StepProgram:
    """The program of a variant, of the sizes that its transformations name, without padding and
    with vectors as the compiler chooses.
    """
    problem = generated(problem)
    if isinstance(problem, StencilProblem):
        return grid_program.program(variant, skeleton, problem)
    tree = canonical(skeleton, problem)
    method = method_of(skeleton, problem)
    if problem.ivp.periodic and any(isinstance(t, Pipeline) for t in variant.transformations):
        raise IllegalTransformation(
            f"{problem.ivp.name} is periodic: the last components of an iteration need the first of"
            " the one before, so iterations cannot follow one another along y"
        )
    if not problem.ivp.autonomous and any(isinstance(t, Hoist) for t in variant.transformations):
        raise IllegalTransformation(
            f"the right-hand side of {problem.ivp.name} depends on the time, which is another in"
            " each stage"
        )
    for transformation in variant.transformations:
        tree = apply(tree, transformation)
    arrays, windows = _storage(tree, skeleton, method)
    windowed = frozenset(window.array for window in windows)
    outliner = Outliner(
        problem.ivp,
        coefficients(skeleton, method),
        _stored(skeleton),
        windowed,
        called,
    )
    body = distinctly_named(outliner.block(tree))
    for transformation in variant.transformations:
        if isinstance(transformation, Jam):
            kernel, loop = transformation.kernel, transformation.loop
            body = jam.jam(body, kernel, loop, transformation.factor)
        elif isinstance(transformation, StreamStores):
            body = streaming.stream(body, transformation.kernel, windowed)
        elif isinstance(transformation, NeighbourSync):
            body = waits.neighbour_waits(body, problem.ivp)
    result = loop_tree.StepProgram(
        body=body,
        arrays=arrays,
        windows=windows,
        pad_lines=0,
        stages=method.stages,
        granule=regions.granule(problem.ivp),
    )
    conflicts = races(result)
    if conflicts:
        raise IllegalTransformation(str(conflicts[0]))
    return result


VECTORS = (WholeLines, Align, Vectorize, Prefetch)
"""The transformations of vectors, which change neither what is computed nor its order; the sequence
in which they are applied."""
VectorTransformation = WholeLines | Align | Vectorize | Prefetch
ChangedSweeps = dict[tuple[int, Transformation], tuple[loop_tree.Sweep, loop_tree.Sweep]]
"""Sweep, by identity, and transformation to the sweep and what it becomes."""


def with_vectors(
    program: loop_tree.StepProgram, variant: Variant, changed: ChangedSweeps
) -> loop_tree.StepProgram:
    """The program with the vectors of its sweeps as long, and aligned, as the variant asks for.

    This is always legal, but refused where all loops begin at the right places anyway. ``changed``
    keeps the new sweeps, so that programs which share sweeps share these too.
    """
    body = program.body
    windows = frozenset(window.array for window in program.windows)
    wanted = [t for t in variant.transformations if isinstance(t, VECTORS)]
    for transformation in sorted(wanted, key=lambda t: VECTORS.index(type(t))):

        def change(
            sweep: loop_tree.Sweep, by: VectorTransformation = transformation
        ) -> loop_tree.Sweep:
            if (id(sweep), by) not in changed:
                changed[id(sweep), by] = sweep, vectors(sweep, by, windows)
            return changed[id(sweep), by][1]

        before, body = body, loop_tree.on_sweeps(body, change)
        if isinstance(transformation, Align) and body == before:
            raise IllegalTransformation(
                f"every loop begins at a multiple of {transformation.doubles} components already"
            )
        if isinstance(transformation, Prefetch) and body == before:
            raise IllegalTransformation("no loop goes along rows in memory: none is fetched ahead")
        if isinstance(transformation, WholeLines) and body == before:
            raise IllegalTransformation(
                "no loop runs over components that could be taken a cache line at a time"
            )
    return program if body is program.body else replace(program, body=body, plain=program)


def vectors(
    sweep: loop_tree.Sweep,
    transformation: VectorTransformation,
    windows: Collection[str] = (),
) -> loop_tree.Sweep:
    """The sweep with its vectors transformed.

    Blocks of threads and tiles begin at aligned places. So only a sweep over a part of the
    components or of the columns begins elsewhere; others are not changed by ``Align``. Rows of
    fixed length that are written out stay so. Sums over an index are vectorised along their index.
    Loops that store past the caches begin at lines anyway. What the caller computes stays as it is.
    """
    if sweep.called:
        return sweep
    if isinstance(transformation, WholeLines):
        return whole_lines.in_lines(sweep, transformation.lines)
    if isinstance(transformation, Prefetch):
        return prefetching.prefetched(sweep, transformation.lines, windows)
    if isinstance(transformation, Vectorize):
        lanes = transformation.lanes
        return replace(sweep, name=f"{sweep.name}_simd{lanes}", lanes=lanes)
    first = sweep.stretches[0]
    whole = first.columns is None and first.lower == Num(0)
    unlined = whole_lines.written_out(sweep) and not sweep.lines
    if whole or unlined or loop_tree.sums(sweep) or sweep.streamed:
        return sweep
    doubles = transformation.doubles
    return replace(sweep, name=f"{sweep.name}_align{doubles}", align=doubles)


def padded(program: loop_tree.StepProgram, variant: Variant) -> loop_tree.StepProgram:
    """The program with the leading dimension that the variant asks for; this is always legal."""
    lines = [t.lines for t in variant.transformations if isinstance(t, Pad)]
    return replace(program, pad_lines=lines[-1] if lines else 0)


def method_of(skeleton: Skeleton, problem: Problem) -> ButcherTableau:
    """The method of a step, without the stages that only an embedded approximation needs if the
    step does not keep it.
    """
    return problem.method if skeleton.keeps_embedded else problem.method.advancing


def canonical(skeleton: Skeleton, problem: Problem) -> Nodes:
    """The loop nests of one time step as the skeleton states them, before any transformation.

    A loop over the stages of an explicit method is a loop of one iteration for each stage.
    """
    lacking = skeleton.lacking(
        explicit=problem.method.explicit, stages=problem.method.advancing.stages
    )
    if lacking is not None:
        raise IllegalTransformation(f"skeleton {skeleton.name} {lacking}")
    method = method_of(skeleton, problem)
    if method.embedded is None and skeleton.keeps_embedded and "b_hat" in skeleton.arrays:
        raise IllegalTransformation(f"{method.name} has no embedded weights")
    counts = {"s": method.stages, "m": problem.correctors}

    def nodes(steps: tuple[Step, ...], stages: Mapping[str, int]) -> Nodes:
        return tuple(made for step in steps for made in node(step, stages))

    def node(step: Step, stages: Mapping[str, int]) -> Nodes:
        match step:
            case CallStep(kernel=name):
                return (_nest(skeleton.kernels[name], skeleton, method, stages),)
            case CommStep(array=array):
                return (loop_tree.Comm(array),)
            case SyncStep():
                return (loop_tree.Sync(),)
            case SwapStep(first=first, second=second):
                return (loop_tree.Swap(first, second),)
            case LoopStep(variable=variable, count=count, body=body, first=first):
                end = first + int(number(count, counts))
                if variable not in skeleton.dimensions:
                    return (NestLoop(variable, first, end, nodes(body, stages)),)
                return tuple(
                    NestLoop(variable, k, k + 1, nodes(body, {**stages, variable: k}))
                    for k in range(first, end)
                )

    return nodes(skeleton.steps, {})


def _nest(
    kernel: Kernel, skeleton: Skeleton, method: ButcherTableau, stages: Mapping[str, int]
) -> Nest:
    """The loops of a kernel; ``stages``: the values of the variables of loops over stages."""
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
            statement = StoreStatement(kernel.target, _with_stages(kernel.value, method.stages))
        else:
            result = kernel.result or Sym("sum")
            terms = _terms(kernel, coefficients(skeleton, method), method.stages, stages)
            statement = ReduceStatement(kernel.target, kernel.value, kernel.reduce, result, terms)
    body: Nodes = (statement,)
    for loop in reversed(kernel.loops):
        end = None if skeleton.dimensions[loop] == "n" else method.stages
        body = (NestLoop(loop, 0, end, body),)
    return Nest(kernel.name, body)


def _terms(
    kernel: Kernel, tables: Coefficients, count: int, stages: Mapping[str, int]
) -> tuple[int, ...] | None:
    """The values of the variable of a sum whose terms are not 0 whatever the arrays hold, at least
    one; None: all ``count``.
    """
    assert kernel.value is not None
    assert kernel.reduce is not None
    values = [{**stages, kernel.reduce: i} for i in range(count)]
    added = tuple(i for i, at in enumerate(values) if not _vanishes(kernel.value, tables, at))
    return None if len(added) == count else added or (0,)


def _vanishes(term: Expr, tables: Coefficients, values: Mapping[str, int]) -> bool:
    """Whether a coefficient of the method by which a term is multiplied is 0."""
    match term:
        case Bin("*", left, right):
            return _vanishes(left, tables, values) or _vanishes(right, tables, values)
        case Ref(array=array, indices=indices) if array in tables:
            if not all(symbols(index) <= set(values) for index in indices):
                return False
            entry: object = tables[array]
            for index in indices:
                assert isinstance(entry, Sequence)
                entry = entry[int(number(index, values))]
            return entry == 0
    return False


def _with_stages(value: Expr, stages: int) -> Expr:
    """The expression with the indices of rows that are stated by the number of stages as numbers,
    such as ``Y[s-1][j]``.
    """

    def change(part: Expr) -> Expr:
        if not isinstance(part, Ref):
            return part
        indices = (
            Num(int(number(index, {"s": stages}))) if symbols(index) == {"s"} else index
            for index in part.indices
        )
        return Ref(part.array, tuple(indices))

    return rebuild(value, change)


def apply(tree: Nodes, transformation: Transformation) -> Nodes:
    """The tree after one transformation of loops; ``IllegalTransformation`` where it is
    not legal.
    """
    match transformation:
        case Interchange(kernel=kernel, order=order):
            return transform.interchange(tree, kernel, order)
        case Fuse(first=first, second=second):
            return transform.fuse(tree, first, second)
        case Tile(kernel=kernel, size=size):
            return transform.tile(tree, kernel, size)
        case FuseTiles(first=first, second=second, size=size, buffer=buffer):
            return transform.fuse_tiles(tree, first, second, size, buffer)
        case Pipeline(loop=loop, block=block):
            return transform.pipeline(tree, loop, block)
        case StripPlanes(rows=rows):
            return strips.strip(tree, rows)
        case Contract(array=array):
            return transform.contract(tree, array)
        case InPlace(array=array):
            return transform.in_place(tree, array)
        case Hoist(kernel=kernel, loop=loop):
            return hoist.hoist(tree, kernel, loop)
        case Align() | Vectorize() | WholeLines() | Prefetch():
            return tree  # of vectors
        case Jam() | StreamStores() | NeighbourSync() | Pad():
            return tree  # of sweeps, of barriers, of storage
        case Block(kernel=kernel) | Unroll(kernel=kernel) | SeveralSweeps(kernel=kernel):
            what = type(transformation).__name__
            raise IllegalTransformation(
                f"{what} is for sweeps over a grid, not for kernel {kernel}"
            )


def coefficients(skeleton: Skeleton, method: ButcherTableau) -> Coefficients:
    """The coefficient arrays of the method that the skeleton names."""
    return {name: table for name, table in tables(method).items() if name in skeleton.arrays}


def _stored(skeleton: Skeleton) -> frozenset[str]:
    names = {name for name, extents in skeleton.arrays.items() if extents[-1] == "n"}
    return frozenset(names | {f"{name}_next" for name in names})


def _storage(
    tree: Nodes, skeleton: Skeleton, method: ButcherTableau
) -> tuple[tuple[tuple[str, int], ...], tuple[loop_tree.Window, ...]]:
    """The stored arrays that the tree uses, in the skeleton's order, second buffers after each, and
    the windows of its pipeline.

    In a pipeline the arrays that a stage writes before it reads them are windows: all but those
    that nothing reads, and the state, which is exchanged with a second copy or written in its
    place.
    """
    arrays = _arrays(tree, skeleton, method)
    pipeline = next((n for n in loop_nests.walk(tree) if isinstance(n, PipelineNest)), None)
    if pipeline is None:
        return arrays, ()
    lasting = _copied(tree)
    written = loop_nests.writes(tree)
    read = loop_nests.reads(tree) | loop_nests.reads_around(tree)
    contracted = {name for nest in loop_nests.nests(tree) for name in nest.contracted}
    outliving = {row.array for row in pipeline.kept}
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
        elif name in outliving:
            windows += [
                loop_tree.Window(version_name(name, row.index), 1, False, row.lags)
                for row in pipeline.kept
                if row.array == name and (row.lags or name not in contracted)
            ]
        elif name in contracted:
            continue
        elif name in written & read and name not in lasting:
            windows.append(loop_tree.Window(name, rows, neighbours=False))
        else:
            kept.append((name, rows))
    return tuple(kept), tuple(windows)


def _copied(tree: Nodes) -> set[str]:
    """The arrays of which there are two copies, by the names of both."""
    pairs = [(n.first, n.second) for n in loop_nests.walk(tree) if isinstance(n, loop_tree.Swap)]
    pairs += [(n.array, n.copy) for n in loop_nests.walk(tree) if isinstance(n, loop_tree.PutBack)]
    return {name for pair in pairs for name in pair}


def _arrays(tree: Nodes, skeleton: Skeleton, method: ButcherTableau) -> tuple[tuple[str, int], ...]:
    """The arrays that the tree uses, in the skeleton's order, second buffers after each."""
    used = loop_nests.reads(tree) | loop_nests.reads_around(tree) | loop_nests.writes(tree)
    used |= _copied(tree)
    rows: Mapping[str, int] = {
        name: 1 if len(extents) == 1 else method.stages
        for name, extents in skeleton.arrays.items()
        if extents[-1] == "n"
    }
    arrays: list[tuple[str, int]] = []
    for name, count in rows.items():
        arrays += [(n, count) for n in (name, f"{name}_next") if n in used]
    return tuple(arrays)
