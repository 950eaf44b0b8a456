"""Reads the problems of a study: an IVP with its method, a stencil on a grid, or arguments of a
program.
"""

import dataclasses
from collections.abc import Mapping
from typing import cast

from autotune.domain.problem import (
    AnyProblem,
    ButcherTableau,
    Ivp,
    Problem,
    ProgramProblem,
    StencilProblem,
)
from autotune.domain.program import Program
from autotune.domain.stencil import Stencil
from autotune.errors import nearest, one_of, unknown_name
from autotune.files.config.facts import FORMS, FactReader, FileForm, altered, named_file
from autotune.files.config.kernel_files import read_ivp, read_method, read_stencil
from autotune.files.config.session import Session
from autotune.files.parsing.yaml_document import Document, Keys

_LARGEST = 2**31 - 1
"""Of a size, and of the extent of a grid in one dimension: larger ones overflow in products."""


def _read_problem(reader: FactReader, value: object, keys: Keys) -> object:
    """The draft of a problem; its keys decide which kind of problem it is."""
    given = set(value) if isinstance(value, dict) else set()
    kind: type[AnyProblem] = Problem
    if "ivp" not in given:
        grid = given & {"stencil", "grid"}
        kind = ProgramProblem if "arguments" in given else StencilProblem if grid else Problem
    return reader.record(kind, value, keys, {})


FORMS[Ivp] = named_file("kernels/ivp", read_ivp)
FORMS[ButcherTableau] = named_file("kernels/method", read_method)
FORMS[Stencil] = named_file("kernels/stencil", read_stencil)
FORMS[AnyProblem] = FileForm(
    _read_problem,
    lambda of: {"anyOf": [of(kind) for kind in (Problem, StencilProblem, ProgramProblem)]},
)


def complete_problem(
    session: Session, document: Document, i: int, stated: AnyProblem, program: Program | None
) -> AnyProblem | None:
    """Problem ``i`` of a study, about ``program`` if there is one; None with faults noted where it
    cannot be read.
    """
    place = _Place(session, document, ("problems", i))
    try:
        match stated:
            case ProgramProblem():
                return _program_problem(place, stated, program)
            case StencilProblem():
                return _stencil_problem(place, stated)
            case Problem():
                return _ivp_problem(place, stated)
    except ValueError as error:
        place.add((), str(error))
    return None


class _Place:
    """The place of one problem in the file of a study, at which its faults are noted."""

    def __init__(self, session: Session, document: Document, keys: Keys) -> None:
        self.session = session
        self.document = document
        self.keys = keys

    def add(self, keys: Keys, found: str, expected: str = "", hint: str = "") -> None:
        self.session.add(self.document.place((*self.keys, *keys)), found, expected, hint)


def _ivp_problem(place: _Place, stated: Problem) -> Problem | None:
    ivp, method = stated.ivp, stated.method
    if stated.size > _LARGEST:
        place.add(("size",), f"size: {stated.size:.3g}", f"at most {_LARGEST}")
        return None
    if ivp is not None and stated.size < ivp.minimum:
        found = f"size: {stated.size} is below the smallest size of {ivp.name}"
        place.add(("size",), found, f"at least {ivp.minimum}")
        return None
    if ivp is None or method is None:  # it has faults of its own
        return None
    correctors = stated.correctors or max(1, method.order - 1)
    problem = dataclasses.replace(altered(stated, correctors=correctors))
    if not problem.h > 0:
        raise ValueError(f"the step size {problem.h} is not positive")
    return problem


def _program_problem(
    place: _Place, stated: ProgramProblem, program: Program | None
) -> ProgramProblem | None:
    if program is None:
        return None
    unknown = [name for name in stated.arguments if name not in program.arguments]
    for name in unknown:
        where = place.document.key((*place.keys, "arguments", name))
        place.session.faults.append(unknown_name(where, "argument", name, program.arguments))
    if unknown:
        return None
    return ProgramProblem(program=program, arguments={**program.arguments, **stated.arguments})


def _stencil_problem(place: _Place, stated: StencilProblem) -> StencilProblem | None:
    stencil = stated.stencil
    extents = None if stencil is None else _extents(place, stated, stencil)
    if extents is None:
        return None
    return StencilProblem(stencil=stencil, extents=extents)


def _extents(place: _Place, stated: StencilProblem, stencil: Stencil) -> tuple[int, ...] | None:
    """The interior points of a grid, in the order of the dimensions; None with faults noted where
    they are wrong.
    """
    names, faults_before = stencil.dimensions, len(place.session.faults)
    given = cast("Mapping[str, object]", stated.extents)
    grid = cast("Mapping[str, int] | None", given["grid"])
    size = cast("int | None", given["size"])
    if (grid is None) == (size is None):
        found = "neither grid nor size is given" if grid is None else "both grid and size"
        form = ", ".join(f"{name}: 96" for name in reversed(names))
        place.add((), found, f"one of grid: {{{form}}} and size: 96")
        return None
    if grid is None:
        extent = size or 0
        if extent > _LARGEST:
            place.add(("size",), f"size: {extent:.3g}", f"at most {_LARGEST}")
            return None
        if extent < stencil.minimum:
            place.add(("size",), f"size: {_few(extent, stencil)}", f"at least {stencil.minimum}")
            return None
        return (extent,) * len(names)
    for name, extent in grid.items():
        if name not in names:
            found = f"grid: {stencil.name} has no dimension {name!r}"
            where = place.document.key((*place.keys, "grid", name))
            place.session.add(where, found, one_of(names), nearest(name, names))
        elif extent > _LARGEST:
            place.add(("grid", name), f"{name}: {extent:.3g}", f"at most {_LARGEST}")
        elif extent < stencil.minimum:
            found = f"{name}: {_few(extent, stencil)}"
            place.add(("grid", name), found, f"at least {stencil.minimum}")
    keys = (*place.keys, "grid")
    absent = [name for name in names if (*keys, name) not in place.document.keys]
    if absent:
        found = f"grid: no points of {', '.join(absent)}"
        place.add(("grid",), found, f"each of {', '.join(names)}")
    if len(place.session.faults) > faults_before or any(name not in grid for name in names):
        return None  # one that has a fault of its own was left out
    return tuple(grid[name] for name in names)


def _few(extent: int, stencil: Stencil) -> str:
    return f"{extent} points are fewer than the radius of {stencil.name}"
