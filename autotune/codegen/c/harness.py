"""The complete source of a measuring program: sweeps, time step, main program."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from autotune.codegen import communication
from autotune.codegen.c import c_expressions, emit, sweep_operations
from autotune.codegen.grid import grid_source, several_text
from autotune.codegen.tree import callback, loop_tree, regions
from autotune.codegen.tree.coefficients import Coefficients, tables
from autotune.domain.problem import AnyProblem, Ivp, Problem, StencilProblem, generated
from autotune.domain.skeleton import EMBEDDED
from autotune.domain.stencil import Stencil
from autotune.language.expression import Num, Sym, symbols

_RUNTIME = Path(__file__).parent / "runtime"


def templates(folder: Path) -> Environment:
    """The templates of texts in a folder: what a template lacks is an error, nothing is escaped."""
    return Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


_TEMPLATES = templates(_RUNTIME)
_ALWAYS = {name: name for name in ("program.h", "thread.h", "pages.h", "main.c")}
_ONE_RANK = {**_ALWAYS, "ranks.h": "one_rank.h", "shape.h": "vector.h"}
_GRID = {**_ONE_RANK, "shape.h": "grid.h", "storage.h": "storage.h"}
_EXCHANGE = {"exchange.h": "exchange.h", "reading.h": "reading.h"}
_RANKS = {**_EXCHANGE, "ranks.h": "ranks.h", "ranks.c": "ranks.c"}
_GRIDS = {**_GRID, **_RANKS}
_DISTRIBUTED = {**_ALWAYS, **_RANKS, "shape.h": "vector.h"}
Constant = tuple[c_expressions.Kind, str, str]
"""Type, name and value, in C."""

_STATED = {callback.ACCESSED: "given->distance"}
"""What the caller of a library states, in C, in the place of the values of constants."""
STEP, FIXED_STEP = "step.c", "fixed_step.c"
"""The files of a step, and of the step of a library whose size is given."""
_STATE = "y"
"""The array that holds the state, by the language of skeletons and right-hand sides."""


def units(
    program: loop_tree.StepProgram,
    problem: AnyProblem,
    *,
    distributed: bool = False,
    filled: bool = False,
    asserted: bool = False,
) -> dict[str, str]:
    """The source files of a measuring program, file name to C text.

    Each sweep has a file of its own; the others are step.c, main.c and the headers. ``filled``:
    every row of every array gets the initial values, not only the state; on a grid they always do.
    ``distributed``: a program of several ranks, with MPI; ``communication.refusal`` says whether it
    is possible. ``asserted``: sweeps over components state their operations, in programs of one
    thread, by ``sweep_operations.HEADER``, which must lie beside them. ``main.c`` and ``program.h``
    are the same for every program, and a sweep is the same in every program that has it. The texts
    do not depend on the problem size, threads, ranks or the kind of communication.
    """
    problem = generated(problem)
    if isinstance(problem, StencilProblem):
        return _grid_units(program, problem.stencil, distributed)
    texts = _runtime(_DISTRIBUTED if distributed else _ONE_RANK)
    functions = _functions(program, problem.ivp)
    if not distributed:
        program = replace(program, body=communication.without(program.body))
    started = _every_row(program) if filled else (loop_tree.StoredRow(_STATE),)
    header = "ranks.h" if distributed else "program.h"
    texts[STEP] = _step(program, problem, functions, started, header)
    return texts | _parts_of_steps(program) | _sweep_units(functions, asserted=asserted)


def stepper_units(
    program: loop_tree.StepProgram,
    problem: Problem,
    stepper: str,
    *,
    distributed: bool = False,
    fixed: loop_tree.StepProgram | None = None,
) -> dict[str, str]:
    """The source files of a time step for a library, file name to C text.

    They define the symbol ``stepper``, of the type in ``stepper.h``; the names of the sweeps,
    which other files define, begin with it. In a program that calls a function of the caller, the
    problem is that of ``callback.problem_of_caller``; there are no initial values then.
    ``distributed``: for several ranks as well as for one, with what ``exchange_units`` has.
    ``fixed``: the program of steps of a given size, if it is another: ``FIXED_STEP`` has it, with
    a symbol of its own to which the other refers. Sweeps that both have are there once.
    """
    if fixed is None:
        texts = _stepper_texts(program, problem, stepper, "", distributed)
        return _prefixed(texts, stepper) | _stepper_headers(program)
    symbol = f"{stepper}_fixed"
    texts = _stepper_texts(program, problem, stepper, symbol, distributed)
    other = _apart(_stepper_texts(fixed, problem, symbol, "", distributed), texts)
    other[FIXED_STEP] = other.pop(STEP)
    headers = _stepper_headers(program) | _stepper_headers(fixed)
    return _prefixed(other | texts, stepper) | headers


def _stepper_texts(
    program: loop_tree.StepProgram, problem: Problem, stepper: str, fixed: str, distributed: bool
) -> dict[str, str]:
    """The step of a library and its sweeps; ``fixed``: the symbol of steps of a given size."""
    called = any(sweep.called for sweep in loop_tree.sweeps(program.body))
    functions = _functions(program, problem.ivp, initial=not called)
    names = {function.name for function in functions}
    functions += [s for s in _derivative(problem.ivp, called) if s.name not in names]
    functions = [function for function in functions if not function.called]
    if not distributed:
        program = replace(program, body=communication.without(program.body))
    started = () if called else (loop_tree.StoredRow(_STATE),)
    header = "ranks.h" if distributed else "stepper.h"
    step = {STEP: _step(program, problem, functions, started, header, stepper, fixed)}
    return step | _sweep_units(functions)


def _stepper_headers(program: loop_tree.StepProgram) -> dict[str, str]:
    """The headers that a step of a library includes."""
    called = any(sweep.called for sweep in loop_tree.sweeps(program.body))
    headers = {"thread.h": "thread.h", **({"callback.h": "callback.h"} if called else {})}
    return _runtime(headers) | _parts_of_steps(program)


def _apart(texts: Mapping[str, str], taken: Mapping[str, str]) -> dict[str, str]:
    """Texts of a step with other names for those of its sweeps that differ from sweeps of another
    step with the same name.
    """
    differ = {file for file in texts if taken.get(file, texts[file]) != texts[file]} - {STEP}
    words = [rf"\b{file.removesuffix('.c')}\b" for file in sorted(differ)]
    names = re.compile("|".join(words) or r"(?!)")

    def renamed(text: str) -> str:
        return names.sub(lambda name: name[0].replace("sweep_", "sweep_fixed_", 1), text)

    return {renamed(file): renamed(text) for file, text in texts.items()}


def exchange_units() -> dict[str, str]:
    """The headers of what ranks exchange, which need MPI, by name."""
    return _runtime(_EXCHANGE)


def sweeper_units(
    program: loop_tree.StepProgram, problem: StencilProblem, sweeper: str
) -> dict[str, str]:
    """The source files of a time step on a grid for a library, file name to C text, in one rank.

    They define one symbol, ``sweeper``, of the type in ``sweeper.h``; the names of the sweeps,
    which other files define, begin with it.
    """
    program = replace(program, body=communication.without(program.body))
    texts = _grid_texts(program, problem.stencil, sweeper=sweeper)
    names = ("thread.h", "pages.h", "storage.h", *several_text.headers(program))
    return _prefixed(texts, sweeper) | _runtime({name: name for name in names})


def _prefixed(texts: Mapping[str, str], library_code: str) -> dict[str, str]:
    """Texts with the names of sweeps behind that of the code of a library."""
    return {
        name: re.sub(r"\bsweep_", f"{library_code}_sweep_", text) for name, text in texts.items()
    }


def _parts_of_steps(program: loop_tree.StepProgram) -> dict[str, str]:
    """The headers of what the step of a program uses, by name."""
    used = {
        "windows.h": bool(program.windows),
        "in_place.h": _in_place(program),
        "neighbours.h": any(loop_tree.waits(program.body)),
    }
    return _runtime({name: name for name, wanted in used.items() if wanted})


def _sweep_units(
    functions: Sequence[loop_tree.AnySweep], *, asserted: bool = False
) -> dict[str, str]:
    texts: dict[str, str] = {}
    for sweep in functions:
        if asserted and isinstance(sweep, loop_tree.Sweep):
            code = sweep_operations.stating_code(sweep)
        else:
            code = emit.sweep_code(sweep)
        texts[f"{code.function}.c"] = code.text
    return texts


def _runtime(files: Mapping[str, str]) -> dict[str, str]:
    return {unit: (_RUNTIME / file).read_text(encoding="utf-8") for unit, file in files.items()}


def _grid_units(
    program: loop_tree.StepProgram, stencil: Stencil, distributed: bool
) -> dict[str, str]:
    if not distributed:
        program = replace(program, body=communication.without(program.body))
    headers = {header: header for header in several_text.headers(program)}
    files = _GRIDS if distributed else _GRID
    return _runtime({**files, **headers}) | _grid_texts(program, stencil, distributed=distributed)


def _grid_texts(
    program: loop_tree.StepProgram,
    stencil: Stencil,
    *,
    distributed: bool = False,
    sweeper: str = "",
) -> dict[str, str]:
    """The text of ``step.c`` on a grid, and of its sweeps; with ``sweeper`` those of a library."""
    fields = grid_source.fields(program, stencil, distributed=distributed, sweeper=sweeper)
    step = {"step.c": _TEMPLATES.get_template(grid_source.TEMPLATE).render(fields)}
    return step | _sweep_units(grid_source.functions(program, stencil))


def _functions(
    program: loop_tree.StepProgram, ivp: Ivp, *, initial: bool = True
) -> list[loop_tree.Sweep]:
    """The sweeps to print, one for each C function, including those that set initial values."""
    by_name: dict[str, loop_tree.Sweep] = {}
    for sweep in (*loop_tree.sweeps(program.body), *(_initial(ivp) if initial else [])):
        same_name = by_name.setdefault(sweep.name, sweep)
        assert same_name.stretches == sweep.stretches, f"two functions are named {sweep.name}"
    return list(by_name.values())


def _initial(ivp: Ivp) -> list[loop_tree.Sweep]:
    return regions.initial(ivp, loop_tree.StoredRow(_STATE))


def _derivative(ivp: Ivp, called: bool) -> list[loop_tree.Sweep]:
    """The sweeps that compute f(t, argument) for vectors beside the arrays of a program."""
    target, argument = loop_tree.StoredRow("derivative"), loop_tree.StoredRow("argument")
    if called:
        return [callback.evaluation(ivp, "derivative", target, argument, Sym("t"))]
    return regions.evaluation(ivp, "derivative", target, argument, Sym("t"))


def _started(ivp: Ivp, row: loop_tree.StoredRow) -> list[loop_tree.Sweep]:
    """The sweeps that set the initial values in another row."""
    return [replace(s, rows=tuple((name, row) for name, _ in s.rows)) for s in _initial(ivp)]


def _every_row(program: loop_tree.StepProgram) -> tuple[loop_tree.StoredRow, ...]:
    return tuple(
        loop_tree.StoredRow(array, Num(index))
        for array, rows in program.arrays
        for index in range(rows)
    )


def _step(
    program: loop_tree.StepProgram,
    problem: Problem,
    functions: list[loop_tree.Sweep],
    started: Sequence[loop_tree.StoredRow],
    header: str,
    stepper: str = "",
    fixed: str = "",
) -> str:
    """The text of ``step.c``; with ``stepper`` that of a library, which refers to ``fixed``."""
    distributed = header == "ranks.h"
    called = any(sweep.called for sweep in loop_tree.sweeps(program.body))
    ivp, method = problem.ivp, problem.method
    taken = method if program.stages == method.stages else method.advancing
    phases = list(dict.fromkeys(sweep.kernel for sweep in loop_tree.sweeps(program.body)))
    constants, kinds = _constants(ivp)
    if called:
        constants = [(kind, name, _STATED[name]) for kind, name, _ in constants]
    bound = c_expressions.real(ivp.stability, kinds)
    dimension = c_expressions.whole(ivp.dimension, kinds)
    indices = [
        (c_expressions.name(table), c_expressions.whole(element, kinds))
        for table, element in ivp.indices.items()
    ]
    values = [value for *_, value in (*constants, *indices)]
    body = emit.step_lines(program, phases)
    texts = [*values, dimension, bound if stepper else "", *body]
    return _TEMPLATES.get_template("step.c.j2").render(
        title=f"{method.name} for {ivp.name}{_steps(problem)}",
        arrays=[(emit.array(array), rows) for array, rows in program.arrays],
        solution=emit.array(_STATE),
        pad_lines=program.pad_lines,
        granule=program.granule,
        start=c_expressions.real(Num(ivp.start)),
        phases=phases,
        tables=_tables(tables(taken)),
        signatures=[emit.signature(sweep) for sweep in functions],
        constants=constants,
        indices=indices,
        before_dimension=[c for c in constants if c[1] in symbols(ivp.dimension)],
        dimension=dimension,
        initial=emit.call_lines([s for row in started for s in _started(ivp, row)]),
        support=c_expressions.support("\n".join(texts)),
        body=body,
        **_windows(program),
        strips=_strips(program, kinds),
        in_place=_in_place(program),
        **_waits(program, ivp, kinds),
        stages=loop_tree.stages(program.body),
        distributed=int(distributed),
        header=header,
        stepper=stepper,
        fixed=fixed,
        embedded=emit.array(EMBEDDED) if EMBEDDED in dict(program.arrays) else -1,
        bound=bound,
        derivative=emit.call_lines(_derivative(ivp, called)) if stepper else [],
        called=called,
        bound_sizes=_sizes(constants, symbols(ivp.stability), "of->"),
        **_reading(ivp, constants, kinds),
    )


def _steps(problem: Problem) -> str:
    """The corrector steps in words; none of an explicit method."""
    return f", {problem.correctors} corrector steps" if problem.correctors else ""


def _in_place(program: loop_tree.StepProgram) -> bool:
    return any(loop.in_place is not None for loop in loop_tree.pipelines(program.body))


def _windows(program: loop_tree.StepProgram) -> dict[str, object]:
    """Template fields of the windows of a pipeline: those that hold neighbours come first, those
    that outlive a stage last, in the order of ``lags``.
    """
    ordered = sorted(program.windows, key=lambda window: (not window.neighbours, window.lags))
    firsts = [sum(w.rows for w in ordered[:place]) for place in range(len(ordered))]
    names = [emit.window(window.array) for window in ordered]
    return {
        "windows": list(zip(names, firsts, strict=True)),
        "far_rows": sum(window.rows for window in ordered if window.neighbours),
        "window_rows": sum(window.rows for window in ordered),
        "lags": [window.lags for window in ordered for _ in range(window.rows)],
        "block": max((p.block for p in loop_tree.pipelines(program.body)), default=0),
    }


def _strips(program: loop_tree.StepProgram, kinds: c_expressions.Kinds) -> dict[str, object]:
    """Template fields of the strips of a pipeline; empty without."""
    strips = next((p.strips for p in loop_tree.pipelines(program.body) if p.strips), None)
    if strips is None:
        return {}
    return {
        "plane": c_expressions.whole(strips.plane, kinds),
        "row": c_expressions.whole(strips.row, kinds),
        "rows": strips.rows,
        "margin": strips.margin,
    }


def _waits(
    program: loop_tree.StepProgram, ivp: Ivp, kinds: c_expressions.Kinds
) -> dict[str, object]:
    """Template fields of the waits for neighbours."""
    lags = [wait.lags for wait in loop_tree.waits(program.body)]
    distance = c_expressions.whole(ivp.access_distance, kinds)
    reach = f"{max(lags, default=1)} * made->lag" if program.windows else distance
    return {"waits": int(bool(lags)), "reach": reach, "periodic": int(ivp.periodic)}


def _constants(ivp: Ivp) -> tuple[list[Constant], c_expressions.Kinds]:
    """The constants of the problem in C, and the C types of all names."""
    kinds: dict[str, c_expressions.Kind] = dict(c_expressions.SIZES)
    constants: list[Constant] = []
    for constant, value in ivp.constants.items():
        kinds[constant] = kind = c_expressions.kind(value, kinds)
        text = (
            c_expressions.whole(value, kinds)
            if kind == "long"
            else c_expressions.real(value, kinds)
        )
        constants.append((kind, c_expressions.name(constant), text))
    return constants, kinds


def _sizes(constants: list[Constant], needed: Collection[str], place: str) -> list[str]:
    """C lines that declare the sizes and constants that expressions need, as they stand in a
    struct; ``place``: what goes before its fields.
    """
    declared = [("long", "N"), ("long", "n"), *((kind, name) for kind, name, _ in constants)]
    names = {c_expressions.name(symbol) for symbol in needed}
    return [
        f"    const {kind} {name} = {place}{name};\n    (void){name};"
        for kind, name in declared
        if name in names
    ]


def _reading(ivp: Ivp, constants: list[Constant], kinds: c_expressions.Kinds) -> dict[str, object]:
    """Template fields that describe the remote components that the right-hand side reads on several
    ranks.
    """
    reads = communication.readings(ivp)
    fields = ("lower", "upper", "shift", "row", "begin", "end")
    expressions = [getattr(reading, field) for reading in reads for field in fields]
    needed = {s for e in (*expressions, ivp.access_distance) for s in symbols(e)}
    return {
        "sizes": _sizes(constants, needed, "constants."),
        "distance": c_expressions.whole(ivp.access_distance, kinds),
        "readings": [
            [(field, c_expressions.whole(getattr(reading, field), kinds)) for field in fields]
            for reading in reads
        ],
    }


def _tables(coefficients: Coefficients) -> list[str]:
    """The coefficients of the method as tables that rows of loops may index."""
    lines = []
    for table, values in coefficients.items():
        extents = f"[{len(values)}]"
        rows = []
        for value in values:
            if isinstance(value, Sequence):
                rows.append("{" + ", ".join(repr(float(v)) for v in value) + "}")
            else:
                rows.append(repr(float(value)))
        if isinstance(values[0], Sequence):
            extents += f"[{len(values[0])}]"
        text = ",\n    ".join(rows)
        lines.append(
            f"__attribute__((unused)) static const double {table}{extents} = {{\n    {text}}};"
        )
    return lines
