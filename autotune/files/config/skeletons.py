"""Skeletons from YAML (schema autotune.skeleton/1)."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from autotune.domain.kernel import Application, Evaluation, Kernel
from autotune.domain.skeleton import (
    GRID,
    CallStep,
    CommStep,
    LoopStep,
    Skeleton,
    Step,
    SwapStep,
    SyncStep,
)
from autotune.errors import nearest, one_of, unknown_name
from autotune.files.config.fields import Expression, Model, Reference, Text
from autotune.files.config.session import Session
from autotune.files.config.validation import validate
from autotune.files.config.yaml_document import Document, Keys
from autotune.language.expression import Expr, Ref, references, show, symbols

SCHEMA = "autotune.skeleton/1"

_SCALARS = {"s", "n", "m", "h", "t"}
"""Stages, components, correctors, step size, time."""


class _Evaluation(Model):
    argument: Reference
    time: Expression


class _Application(Model):
    argument: Text


class _Kernel(Model):
    loops: list[Text] = Field(min_length=1)
    target: Reference
    value: Expression | None = None
    reduce: Text | None = None
    result: Expression | None = None
    evaluate: _Evaluation | None = None
    stencil: _Application | None = None

    @model_validator(mode="after")
    def _one(self) -> "_Kernel":
        if self.evaluate is not None and self.stencil is not None:
            raise ValueError("a kernel evaluates a right-hand side or applies a stencil, not both")
        return self


class _Loop(Model):
    variable: Text
    count: Expression
    body: "list[_Step]" = Field(min_length=1)


def _spell_out(value: object) -> object:
    """``sync`` stands for ``{sync: true}``."""
    return {"sync": True} if value == "sync" else value


class _PlainStep(Model):
    call: Text | None = None
    loop: _Loop | None = None
    comm: Text | None = None
    sync: Literal[True] | None = None
    swap: list[Text] | None = Field(default=None, min_length=2, max_length=2)

    @model_validator(mode="after")
    def _one(self) -> "_PlainStep":
        if len(self.model_fields_set) != 1 or None in self._given():
            raise ValueError("a step is exactly one of call, loop, comm, sync, swap")
        return self

    def _given(self) -> list[object]:
        return [getattr(self, name) for name in self.model_fields_set]


_Step = Annotated[_PlainStep, BeforeValidator(_spell_out)]


class _Skeleton(Model):
    title: Text
    source: Text
    dimensions: dict[str, Literal["s", "n", "grid"]] = Field(min_length=1)
    arrays: dict[str, list[Literal["s", "n", "grid"]]] = Field(min_length=1)
    kernels: dict[str, _Kernel] = Field(min_length=1)
    steps: list[_Step] = Field(min_length=1)


_Loop.model_rebuild()


def read_skeleton(session: Session, path: Path) -> Skeleton | None:
    """The skeleton of a file, or None and faults."""
    known = len(session.faults)
    document = session.open(path, SCHEMA)
    model = validate(session, document, _Skeleton) if document else None
    if document is None or model is None:
        return None
    check = _Check(session, document, model)
    _check_extents(check)
    kernels = {name: _kernel(check, name, kernel) for name, kernel in model.kernels.items()}
    steps = _steps(check, model.steps, ("steps",))
    if len(session.faults) > known:
        return None
    try:
        return Skeleton(
            name=path.stem,
            title=model.title,
            source=model.source,
            dimensions=model.dimensions,
            arrays={name: tuple(extents) for name, extents in model.arrays.items()},
            kernels={name: kernel for name, kernel in kernels.items() if kernel},
            steps=steps,
        )
    except ValueError as error:
        session.add(document.place(("kernels",)), str(error))
        return None


def _check_extents(check: "_Check") -> None:
    """A grid goes with stencils only, s and n with IVPs only."""
    if GRID not in (*check.model.dimensions.values(), *_extents(check.model.arrays)):
        for name, kernel in check.model.kernels.items():
            if kernel.stencil is not None:
                check.add(
                    ("kernels", name, "stencil"),
                    "a stencil is applied, but no dimension is the grid",
                    "a dimension of extent grid",
                )
        return
    for name, extent in check.model.dimensions.items():
        if extent != GRID:
            check.add(("dimensions", name), f"{name}: {extent} beside a grid", "grid everywhere")
    for name, extents in check.model.arrays.items():
        if extents != [GRID]:
            found = f"{name}: [{', '.join(extents)}] beside a grid"
            check.add(("arrays", name), found, "[grid] everywhere")
    for name, kernel in check.model.kernels.items():
        if kernel.stencil is None:
            check.add(("kernels", name), f"{name} applies no stencil", "the key stencil")


def _extents(arrays: dict[str, list[Literal["s", "n", "grid"]]]) -> list[str]:
    return [extent for extents in arrays.values() for extent in extents]


class _Check:
    """Faults of names and array elements in one skeleton."""

    def __init__(self, session: Session, document: Document, model: _Skeleton) -> None:
        self.session = session
        self.document = document
        self.model = model

    def add(self, keys: Keys, found: str, expected: str = "", hint: str = "") -> None:
        self.session.add(self.document.place(keys), found, expected, hint)

    def name(self, keys: Keys, kind: str, name: str, known: set[str]) -> None:
        if name not in known:
            self.session.faults.append(unknown_name(self.document.place(keys), kind, name, known))

    def expression(self, keys: Keys, expr: Expr, names: set[str]) -> None:
        for name in sorted(symbols(expr) - names):
            self.add(keys, f"unknown name {name!r}", one_of(sorted(names)), nearest(name, names))
        for ref in references(expr):
            self.reference(keys, ref)

    def reference(self, keys: Keys, ref: Ref, *, whole: bool = False) -> None:
        """An array element; with ``whole`` a vector, without its last index."""
        if ref.array not in self.model.arrays:
            self.name(keys, "array", ref.array, set(self.model.arrays))
            return
        extents = self.model.arrays[ref.array]
        needed = len(extents) - whole
        if whole and extents[-1:] != ["n"]:
            self.add(keys, f"{ref.array} is not stored", "an array whose last extent is n")
        elif len(ref.indices) != needed:
            found = f"{show(ref)} has {len(ref.indices)} indices"
            self.add(keys, found, f"{needed} for {ref.array} of {' x '.join(extents)}")
        for position, index in enumerate(ref.indices[: len(extents)]):
            self._index(keys, ref, index, extents[position])

    def _index(self, keys: Keys, ref: Ref, index: Expr, extent: str) -> None:
        loops = self.model.dimensions
        for name in symbols(index):
            if name in loops and loops[name] != extent:
                self.add(
                    keys,
                    f"{show(ref)}: {name} runs to {loops[name]}",
                    f"an index of extent {extent}",
                )


def _kernel(check: _Check, name: str, model: _Kernel) -> Kernel | None:
    keys: Keys = ("kernels", name)
    faults = len(check.session.faults)
    loops = set(check.model.dimensions)
    for i, loop in enumerate(model.loops):
        check.name((*keys, "loops", i), "dimension", loop, loops)
        if loop in model.loops[:i]:
            check.add((*keys, "loops", i), f"the loop {loop!r} is here again", "each loop once")
    names = _SCALARS | set(model.loops)
    check.expression((*keys, "target"), model.target, names)
    if model.value is not None:
        check.expression((*keys, "value"), model.value, names)
    if model.result is not None:
        check.expression((*keys, "result"), model.result, names | {"sum"})
    if model.evaluate is not None:
        check.reference((*keys, "evaluate", "argument"), model.evaluate.argument, whole=True)
        for index in model.evaluate.argument.indices:
            check.expression((*keys, "evaluate", "argument"), index, names)
        check.expression((*keys, "evaluate", "time"), model.evaluate.time, names)
    if model.stencil is not None:
        argument = (*keys, "stencil", "argument")
        check.name(argument, "array", model.stencil.argument, set(check.model.arrays))
        if model.stencil.argument == model.target.array:
            found = f"{name} reads and writes {model.target.array}"
            check.add(argument, found, "another array: points would be read that were written")
    if len(check.session.faults) > faults:
        return None
    try:
        return Kernel(
            name=name,
            loops=tuple(model.loops),
            target=model.target,
            value=model.value,
            reduce=model.reduce,
            result=model.result,
            evaluation=_evaluation(model),
        )
    except ValueError as error:
        check.add(keys, str(error))
        return None


def _evaluation(model: _Kernel) -> Evaluation | Application | None:
    if model.stencil is not None:
        return Application(argument=model.stencil.argument)
    if model.evaluate is not None:
        return Evaluation(argument=model.evaluate.argument, time=model.evaluate.time)
    return None


def _steps(check: _Check, models: list[_PlainStep], keys: Keys) -> tuple[Step, ...]:
    stored = {name for name, extents in check.model.arrays.items() if extents[-1:] == ["n"]}
    steps: list[Step] = []
    for i, model in enumerate(models):
        here = (*keys, i)
        if model.call is not None:
            check.name((*here, "call"), "kernel", model.call, set(check.model.kernels))
            steps.append(CallStep(model.call))
        elif model.comm is not None:
            check.name((*here, "comm"), "stored array", model.comm, stored)
            steps.append(CommStep(model.comm))
        elif model.swap is not None:
            steps += _swap(check, model.swap, (*here, "swap"))
        elif model.loop is not None:
            loop = model.loop
            check.expression((*here, "loop", "count"), loop.count, {"s", "m"})
            body = _steps(check, loop.body, (*here, "loop", "body"))
            steps.append(LoopStep(loop.variable, loop.count, body))
        else:
            steps.append(SyncStep())
    return tuple(steps)


def _swap(check: _Check, names: list[str], keys: Keys) -> list[Step]:
    grids = {name for name, extents in check.model.arrays.items() if extents == [GRID]}
    for i, name in enumerate(names):
        check.name((*keys, i), "array of the grid", name, grids)
    if names[0] == names[1]:
        check.add(keys, f"{names[0]} is exchanged with itself", "two arrays")
        return []
    return [SwapStep(names[0], names[1])]
