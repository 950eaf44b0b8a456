"""Reads the problems of a study: an IVP with its method, a stencil on a grid, or arguments of a
program.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import cast

from autotune.domain.misfit import Misfit, MisfitError, refuse, unknown
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
from autotune.errors import nearest, one_of
from autotune.files.config.facts import (
    FORMS,
    FactReader,
    FileForm,
    altered,
    faults_noted,
    named_file,
)
from autotune.files.config.kernel_files import read_ivp, read_method, read_stencil
from autotune.files.config.session import Session
from autotune.files.parsing.yaml_document import Document, Keys


def _read_problem(reader: FactReader, value: object, keys: Keys) -> object:
    """The draft of a problem; its keys decide which kind of problem it is, without such keys
    whether the study is about a program.
    """
    given = set(value) if isinstance(value, dict) else set()
    kind: type[AnyProblem] = ProgramProblem if reader.document.root.get("program") else Problem
    if "ivp" in given:
        kind = Problem
    elif "arguments" in given:
        kind = ProgramProblem
    elif given & {"stencil", "grid"}:
        kind = StencilProblem
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
    keys: Keys = ("problems", i)
    with faults_noted(session, document, keys):
        match stated:
            case ProgramProblem() if program is not None:
                names, given = program.arguments, stated.arguments or {}
                refuse(m for name in given for m in _argument(name, names))
                return ProgramProblem(program=program, arguments={**names, **given})
            case StencilProblem(stencil=stencil) if stencil:
                extents = _extents(document, keys, stated, stencil)
                return None if extents is None else replace(altered(stated, extents=extents))
            case Problem(ivp=ivp, method=method) if ivp and method:
                correctors = stated.correctors or method.usual_correctors
                problem = replace(altered(stated, correctors=correctors))
                if not problem.h > 0:
                    raise ValueError(f"the step size {problem.h} is not positive")
                return problem
    return None  # also where a file that it names has faults of its own


def _argument(name: str, names: Collection[str]) -> Iterator[Misfit]:
    return unknown(("arguments", name), "argument", name, names, of_key=True)


def _extents(
    document: Document, place: Keys, stated: StencilProblem, stencil: Stencil
) -> tuple[int, ...] | None:
    """The interior points of a grid, in the order of the dimensions; None where one of them has a
    fault already, MisfitError where they are wrong.
    """
    names = stencil.dimensions
    given = cast("Mapping[str, object]", stated.extents)
    grid = cast("Mapping[str, int] | None", given["grid"])
    size = cast("int | None", given["size"])
    if (grid is None) == (size is None):
        found = "neither grid nor size is given" if grid is None else "both grid and size"
        form = ", ".join(f"{name}: 96" for name in reversed(names))
        raise MisfitError(Misfit((), found, f"one of grid: {{{form}}} and size: 96"))
    points = dict.fromkeys(names, size or 0) if grid is None else grid
    unread = [name for name in names if name not in points]
    absent = [name for name in unread if (*place, "grid", name) not in document.keys]
    wrong = [
        Misfit(("grid",), f"grid: no points of {', '.join(absent)}", f"each of {', '.join(names)}")
    ][: len(absent)]
    for name, extent in points.items():
        keys = ("size",) if grid is None else ("grid", name)
        if name not in names:
            found, hint = f"grid: {stencil.name} has no dimension {name!r}", nearest(name, names)
            wrong.append(Misfit(keys, found, one_of(names), hint, of_key=True))
        elif extent < stencil.minimum:
            found = f"{keys[-1]}: {extent} points are fewer than the radius of {stencil.name}"
            wrong.append(Misfit(keys, found, f"at least {stencil.minimum}"))
    refuse(dict.fromkeys(wrong))
    return None if unread else tuple(points[name] for name in names)
