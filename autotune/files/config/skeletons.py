"""Reads skeletons from YAML (schema autotune.skeleton/1)."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, cast

from autotune.domain.annotations import Text
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
from autotune.files.config.facts import FORMS, LOST, FactReader, FileForm, draft, settle, unchecked
from autotune.files.config.file_fields import split
from autotune.files.config.session import Session
from autotune.files.parsing.yaml_document import Document, Keys
from autotune.language.expression import Expr, Ref, references, show, symbols

SCHEMA = "autotune.skeleton/1"

_SCALARS = {"s", "n", "m", "h", "t"}
"""Stages, components, correctors, step size, time."""


_STEPS: Mapping[str, object] = {
    "call": CallStep,
    "loop": LoopStep,
    "comm": CommStep,
    "sync": SyncStep,
    "swap": SwapStep,
}
"""Kinds of steps by their key. A loop is keys and values; of the others a value stands alone."""


def _read_step(reader: FactReader, value: object, keys: Keys) -> object:
    """A step of a skeleton: ``{call: lc}``, ``{swap: [u, v]}``, ``{loop: {...}}``; ``sync`` is
    short for ``{sync: true}``.
    """
    value = {"sync": True} if value == "sync" else value
    if not isinstance(value, dict):
        return reader.refuse(keys, value, "keys and values")
    faults_before = len(reader.session.faults)
    given = [key for key in _STEPS if key in value]
    reader.refuse_others(tuple(_STEPS), value, keys)
    steps = [_step(reader, key, value[key], (*keys, key)) for key in given]
    if len(reader.session.faults) > faults_before:
        reader.broken = True
        return LOST
    if len(value) != 1 or None in value.values():
        reader.broken = True
        return reader.fault(keys, "a step is exactly one of call, loop, comm, sync, swap")
    return steps[0]


def _step(reader: FactReader, key: str, value: object, keys: Keys) -> object:
    if value is None:
        return LOST
    if key == "loop":
        return reader.record(LoopStep, value, keys, {})
    if key == "sync":
        return LOST if reader.value(Literal[True], (), value, keys) is LOST else SyncStep()
    if key == "swap":
        pair = reader.value(tuple[Text, Text], (), value, keys)
        return LOST if pair is LOST else unchecked(SwapStep, *cast(tuple[str, str], pair))
    text = reader.value(*split(Text), value, keys)
    return LOST if text is LOST else unchecked(CallStep if key == "call" else CommStep, text)


def _step_schema(of: Callable[[object], dict[str, object]]) -> dict[str, object]:
    kinds: dict[str, object] = {
        "call": Text,
        "loop": LoopStep,
        "comm": Text,
        "sync": Literal[True],
        "swap": tuple[Text, Text],
    }
    keys = {key: of(kind) for key, kind in kinds.items()}
    single = {"type": "object", "properties": keys, "additionalProperties": False,
              "minProperties": 1, "maxProperties": 1}  # fmt: skip
    return {"anyOf": [{"const": "sync"}, single]}


FORMS[Step] = FileForm(_read_step, _step_schema)


def read_skeleton(session: Session, path: Path) -> Skeleton | None:
    """The skeleton in a file; None with faults noted where it cannot be read."""
    faults_before = len(session.faults)
    document = session.open(path, SCHEMA)
    stated = draft(session, document, Skeleton, name=path.stem) if document else None
    if document is None or stated is None:
        return None
    check = _Check(session, document, stated)
    for mixed in stated.mixed_extents():
        check.add(mixed.keys, mixed.found, mixed.expected)
    for name, kernel in stated.kernels.items():
        _check_kernel(check, name, kernel)
    _check_steps(check, stated.steps, ("steps",))
    if len(session.faults) > faults_before:
        return None
    return settle(session, document, stated, at=("kernels",))


class _Check:
    """Finds the faults of names and array elements in one skeleton."""

    def __init__(self, session: Session, document: Document, skeleton: Skeleton) -> None:
        self.session = session
        self.document = document
        self.skeleton = skeleton

    def add(self, keys: Keys, found: str, expected: str = "", hint: str = "") -> None:
        self.session.add(self.document.place(keys), found, expected, hint)

    def name(self, keys: Keys, kind: str, name: str, names: set[str]) -> None:
        if name not in names:
            self.session.faults.append(unknown_name(self.document.place(keys), kind, name, names))

    def expression(self, keys: Keys, expr: Expr, names: set[str]) -> None:
        for name in sorted(symbols(expr) - names):
            self.add(keys, f"unknown name {name!r}", one_of(sorted(names)), nearest(name, names))
        for ref in references(expr):
            self.reference(keys, ref)

    def reference(self, keys: Keys, ref: Ref, *, whole: bool = False) -> None:
        """Check an array element; with ``whole`` a whole vector, which has no last index."""
        if ref.array not in self.skeleton.arrays:
            self.name(keys, "array", ref.array, set(self.skeleton.arrays))
            return
        extents = self.skeleton.arrays[ref.array]
        needed = len(extents) - whole
        if whole and extents[-1:] != ("n",):
            self.add(keys, f"{ref.array} is not stored", "an array whose last extent is n")
        elif len(ref.indices) != needed:
            found = f"{show(ref)} has {len(ref.indices)} indices"
            self.add(keys, found, f"{needed} for {ref.array} of {' x '.join(extents)}")
        for position, index in enumerate(ref.indices[: len(extents)]):
            self._index(keys, ref, index, extents[position])

    def _index(self, keys: Keys, ref: Ref, index: Expr, extent: str) -> None:
        loops = self.skeleton.dimensions
        for name in symbols(index):
            if name in loops and loops[name] != extent:
                self.add(
                    keys,
                    f"{show(ref)}: {name} runs to {loops[name]}",
                    f"an index of extent {extent}",
                )


def _check_kernel(check: _Check, name: str, kernel: Kernel) -> None:
    keys: Keys = ("kernels", name)
    faults_before = len(check.session.faults)
    loops = set(check.skeleton.dimensions)
    for i, loop in enumerate(kernel.loops):
        check.name((*keys, "loops", i), "dimension", loop, loops)
        if loop in kernel.loops[:i]:
            check.add((*keys, "loops", i), f"the loop {loop!r} is here again", "each loop once")
    names = _SCALARS | set(kernel.loops)
    check.expression((*keys, "target"), kernel.target, names)
    if kernel.value is not None:
        check.expression((*keys, "value"), kernel.value, names)
    if kernel.result is not None:
        check.expression((*keys, "result"), kernel.result, names | {"sum"})
    evaluation = kernel.evaluation
    if isinstance(evaluation, Evaluation):
        check.reference((*keys, "evaluate", "argument"), evaluation.argument, whole=True)
        for index in evaluation.argument.indices:
            check.expression((*keys, "evaluate", "argument"), index, names)
        check.expression((*keys, "evaluate", "time"), evaluation.time, names)
    if isinstance(evaluation, Application):
        argument = (*keys, "stencil", "argument")
        check.name(argument, "array", evaluation.argument, set(check.skeleton.arrays))
        if evaluation.argument == kernel.target.array:
            found = f"{name} reads and writes {kernel.target.array}"
            check.add(argument, found, "another array: points would be read that were written")
    if len(check.session.faults) == faults_before:
        settle(check.session, check.document, kernel, keys)


def _check_steps(check: _Check, steps: Sequence[Step], keys: Keys) -> None:
    arrays = check.skeleton.arrays
    stored = {name for name, extents in arrays.items() if extents[-1:] == ("n",)}
    for i, step in enumerate(steps):
        here = (*keys, i)
        match step:
            case CallStep(kernel=kernel):
                check.name((*here, "call"), "kernel", kernel, set(check.skeleton.kernels))
            case CommStep(array=array):
                check.name((*here, "comm"), "stored array", array, stored)
            case SwapStep(first=first, second=second):
                _check_swap(check, (first, second), (*here, "swap"))
            case LoopStep(count=count, body=body):
                check.expression((*here, "loop", "count"), count, {"s", "m"})
                _check_steps(check, body, (*here, "loop", "body"))


def _check_swap(check: _Check, names: tuple[str, str], keys: Keys) -> None:
    grids = {name for name, extents in check.skeleton.arrays.items() if extents == (GRID,)}
    for i, name in enumerate(names):
        check.name((*keys, i), "array of the grid", name, grids)
    if names[0] == names[1]:
        check.add(keys, f"{names[0]} is exchanged with itself", "two arrays")
