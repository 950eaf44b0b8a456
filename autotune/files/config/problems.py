"""The problems of a study: an IVP with its method, a stencil on a grid, arguments of a program."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Discriminator, Field, Tag

from autotune import paths
from autotune.domain.problem import AnyProblem, Problem, ProgramProblem, StencilProblem
from autotune.domain.program import Program
from autotune.domain.stencil import Stencil
from autotune.errors import nearest, one_of, unknown_name
from autotune.files.config.fields import Model, Read, Text
from autotune.files.config.ivps import read_ivp
from autotune.files.config.methods import read_method
from autotune.files.config.programs import value
from autotune.files.config.session import Session
from autotune.files.config.stencils import read_stencil
from autotune.files.config.validation import tag
from autotune.files.config.yaml_document import Document, Keys
from autotune.language.constraint import Value

Reader = Callable[[Session, Path], object]
FILES: Mapping[str, tuple[paths.Collection, Reader]] = {
    "ivp": ("kernels/ivp", read_ivp),
    "method": ("kernels/method", read_method),
    "stencil": ("kernels/stencil", read_stencil),
}
"""What the keys of a problem name."""


class IvpModel(Model):
    """An IVP, solved at a size by a method."""

    ivp: Text
    method: Text
    correctors: int | None = Field(default=None, ge=1)
    size: int = Field(ge=1)
    step_fraction: float = Field(default=0.1, gt=0, le=1)


class StencilModel(Model):
    """A stencil on a grid: interior points by dimension, or ``size`` in each."""

    stencil: Text
    grid: dict[str, Annotated[int, Field(ge=1)]] | None = Field(default=None, min_length=1)
    size: int | None = Field(default=None, ge=1)


class ProgramArguments(Model):
    """The program of the study with some arguments; the others have their defaults."""

    arguments: dict[str, Annotated[Value, Read(value)]]


def _family(value: object) -> str:
    """Which problem it is, by its keys."""
    keys = set(value) if isinstance(value, dict) else set()
    if "arguments" in keys and "ivp" not in keys:
        return tag("program")
    return tag("stencil" if keys & {"stencil", "grid"} and "ivp" not in keys else "ivp")


ProblemModel = Annotated[
    Annotated[IvpModel, Tag(tag("ivp"))]
    | Annotated[StencilModel, Tag(tag("stencil"))]
    | Annotated[ProgramArguments, Tag(tag("program"))],
    Discriminator(_family),
]


def read_problem(
    session: Session,
    document: Document,
    i: int,
    model: IvpModel | StencilModel | ProgramArguments,
    program: Program | None = None,
) -> AnyProblem | None:
    """Problem ``i`` of a study, of its program where it is about one, or None and faults."""
    place = _Place(session, document, ("problems", i))
    try:
        if isinstance(model, ProgramArguments):
            return _program_problem(place, model, program)
        if isinstance(model, StencilModel):
            return _stencil_problem(place, model)
        return _ivp_problem(place, model)
    except ValueError as error:
        place.add((), str(error))
        return None


class _Place:
    """One problem in the file of a study."""

    def __init__(self, session: Session, document: Document, keys: Keys) -> None:
        self.session = session
        self.document = document
        self.keys = keys

    def add(self, keys: Keys, found: str, expected: str = "", hint: str = "") -> None:
        self.session.add(self.document.place((*self.keys, *keys)), found, expected, hint)

    def file(self, key: str, name: str) -> Path | None:
        """The file that a key names."""
        where = self.document.place((*self.keys, key))
        return self.session.resolve(name, FILES[key][0], self.document.path.parent, where)


def _ivp_problem(place: _Place, model: IvpModel) -> Problem | None:
    path = place.file("ivp", model.ivp)
    ivp = place.session.once(path, read_ivp) if path else None
    path = place.file("method", model.method)
    method = place.session.once(path, read_method) if path else None
    if ivp is not None and model.size < ivp.minimum:
        found = f"size: {model.size} is below the smallest size of {ivp.name}"
        place.add(("size",), found, f"at least {ivp.minimum}")
        return None
    if ivp is None or method is None:
        return None
    problem = Problem(
        ivp=ivp,
        method=method,
        correctors=model.correctors or max(1, method.order - 1),
        size=model.size,
        step_fraction=model.step_fraction,
    )
    if not problem.h > 0:
        raise ValueError(f"the step size {problem.h} is not positive")
    return problem


def _program_problem(
    place: _Place, model: ProgramArguments, program: Program | None
) -> ProgramProblem | None:
    if program is None:
        return None
    unknown = [name for name in model.arguments if name not in program.arguments]
    for name in unknown:
        where = place.document.key((*place.keys, "arguments", name))
        place.session.faults.append(unknown_name(where, "argument", name, program.arguments))
    if unknown:
        return None
    return ProgramProblem(program=program, arguments={**program.arguments, **model.arguments})


def _stencil_problem(place: _Place, model: StencilModel) -> StencilProblem | None:
    path = place.file("stencil", model.stencil)
    stencil = place.session.once(path, read_stencil) if path else None
    extents = _extents(place, model, stencil) if stencil else None
    if stencil is None or extents is None:
        return None
    return StencilProblem(stencil=stencil, extents=extents)


def _extents(place: _Place, model: StencilModel, stencil: Stencil) -> tuple[int, ...] | None:
    """Interior points in the order of the dimensions."""
    names, known = stencil.dimensions, len(place.session.faults)
    if (model.grid is None) == (model.size is None):
        found = "neither grid nor size is given" if model.grid is None else "both grid and size"
        form = ", ".join(f"{name}: 96" for name in reversed(names))
        place.add((), found, f"one of grid: {{{form}}} and size: 96")
        return None
    if model.grid is None:
        extent = model.size or 0
        if extent < stencil.minimum:
            place.add(("size",), f"size: {_few(extent, stencil)}", f"at least {stencil.minimum}")
            return None
        return (extent,) * len(names)
    for name, extent in model.grid.items():
        if name not in names:
            found = f"grid: {stencil.name} has no dimension {name!r}"
            where = place.document.key((*place.keys, "grid", name))
            place.session.add(where, found, one_of(names), nearest(name, names))
        elif extent < stencil.minimum:
            found = f"{name}: {_few(extent, stencil)}"
            place.add(("grid", name), found, f"at least {stencil.minimum}")
    keys = (*place.keys, "grid")
    absent = [name for name in names if (*keys, name) not in place.document.keys]
    if absent:
        found = f"grid: no points of {', '.join(absent)}"
        place.add(("grid",), found, f"each of {', '.join(names)}")
    if len(place.session.faults) > known or any(name not in model.grid for name in names):
        return None  # one that has a fault of its own was left out
    return tuple(model.grid[name] for name in names)


def _few(extent: int, stencil: Stencil) -> str:
    return f"{extent} points are fewer than the radius of {stencil.name}"
