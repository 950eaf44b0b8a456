"""The generated part of a measuring program on a grid: time step, constants, initial values."""

from collections.abc import Collection, Mapping

from autotune.codegen import communication
from autotune.codegen.c import c_expressions, emit
from autotune.codegen.grid import grid_program, several_text
from autotune.codegen.tree import loop_tree
from autotune.domain.stencil import SOURCE, TARGET, Stencil

TEMPLATE = "grid_step.c.j2"

Constant = tuple[c_expressions.Kind, str, str]
"""Type, name and value, in C."""


def functions(program: loop_tree.StepProgram, stencil: Stencil) -> list[loop_tree.GridSweep]:
    """The sweeps to print, one per C function, including those that set initial values."""
    by_name: dict[str, loop_tree.GridSweep] = {}
    for sweep in (*loop_tree.grid_sweeps(program.body), *_initial(program, stencil)):
        same_name = by_name.setdefault(sweep.name, sweep)
        assert same_name.value == sweep.value, f"two functions are named {sweep.name}"
    return list(by_name.values())


def fields(
    program: loop_tree.StepProgram,
    stencil: Stencil,
    *,
    distributed: bool = False,
    sweeper: str = "",
) -> Mapping[str, object]:
    """The values of the fields of the C template; with ``sweeper`` for a library."""
    header = "ranks.h" if distributed else "program.h"
    phases = list(dict.fromkeys(sweep.kernel for sweep in loop_tree.grid_sweeps(program.body)))
    constants = _constants(stencil)
    return {
        "title": stencil.name,
        "arrays": [emit.array(array) for array, _ in program.arrays],
        "solution": emit.array(SOURCE),
        "dimensions": stencil.dimensions,
        "radius": stencil.radius,
        "pad_lines": program.pad_lines,
        "granule": program.granule,
        "phases": phases,
        "signatures": [emit.signature(sweep) for sweep in functions(program, stencil)],
        "extents": [c_expressions.name(extent) for extent in stencil.extent_names],
        "constants": constants,
        "support": c_expressions.support("\n".join(value for _, _, value in constants)),
        "initial": emit.grid_initial_lines(_initial(program, stencil)),
        "headers": several_text.headers(program),
        "rings": several_text.storage(program),
        "body": emit.step_lines(program, phases),
        "distributed": int(distributed),
        "header": "sweeper.h" if sweeper else header,
        "sweeper": sweeper,
        "stored": _stored(program, stencil),
        "alone": int(stencil.order == "lexicographic"),
        "rows": _exchanged_rows(program),
        "reach": communication.halo(program),
    }


def _stored(program: loop_tree.StepProgram, stencil: Stencil) -> list[int]:
    """Of each array: 0 for the state and its copies, else which of the coefficients that the body
    reads it holds, from 1.
    """
    parameters = [grid_program.renamed(stencil, name) for name in stencil.coefficients_read]
    held = _coefficient_of(program, parameters)
    return [
        parameters.index(held[array]) + 1 if array in held else 0 for array, _ in program.arrays
    ]


def _coefficient_of(program: loop_tree.StepProgram, parameters: Collection[str]) -> dict[str, str]:
    """The arrays that hold coefficients, with the names of these in the code of a sweep."""
    several = loop_tree.several_sweeps(program.body)
    whole = [several[0].sweep] if several else loop_tree.grid_sweeps(program.body)
    return {
        row.array: parameter
        for sweep in whole
        for parameter, row in sweep.rows
        if parameter in parameters
    }


def _exchanged_rows(program: loop_tree.StepProgram) -> list[int]:
    """The rows of each array that ranks may exchange: 0 for coefficients, which they set in
    planes of others too.
    """
    written = loop_tree.changed_arrays(program.body)
    return [rows if array in written else 0 for array, rows in program.arrays]


def _initial(program: loop_tree.StepProgram, stencil: Stencil) -> list[loop_tree.GridSweep]:
    """The sweeps that set every array: coefficients to their values, all others to the initial
    values of u.

    All arrays have the ghosts of u, so that two of them may be swapped.
    """
    of = {grid_program.renamed(stencil, name): name for name in stencil.coefficients}
    held = _coefficient_of(program, of)
    ending = grid_program.identifier(stencil)
    sweeps = []
    for array, _ in program.arrays:
        if array in held:
            coefficient = of[held[array]]
            name, value = f"{coefficient}_{ending}", stencil.coefficients[coefficient]
        else:
            name, value = ending, stencil.initial
        rows = ((TARGET, loop_tree.StoredRow(array)),)
        sweeps.append(grid_program.point_sweep(stencil, f"initial_{name}", "initial", rows, value))
    return sweeps


def _constants(stencil: Stencil) -> list[Constant]:
    """The constants of the stencil as C declarations."""
    kinds: dict[str, c_expressions.Kind] = {}
    for extent in stencil.extent_names:
        kinds[extent] = "long"
    constants: list[Constant] = []
    for constant, value in grid_program.constants(stencil, stencil.constants):
        kinds[constant] = kind = c_expressions.kind(value, kinds)
        text = (
            c_expressions.whole(value, kinds)
            if kind == "long"
            else c_expressions.real(value, kinds)
        )
        constants.append((kind, c_expressions.name(constant), text))
    return constants
