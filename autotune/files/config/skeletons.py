"""Reads skeletons from YAML (schema autotune.skeleton/1)."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, cast

from autotune.domain.annotations import Text
from autotune.domain.skeleton import (
    CallStep,
    CommStep,
    LoopStep,
    Skeleton,
    Step,
    SwapStep,
    SyncStep,
)
from autotune.files.config.facts import FORMS, LOST, FactReader, FileForm, read_file, unchecked
from autotune.files.config.file_fields import split
from autotune.files.config.session import Session
from autotune.files.parsing.yaml_document import Keys

SCHEMA = "autotune.skeleton/1"

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
    return read_file(session, path, SCHEMA, Skeleton, at=("kernels",), name=path.stem)
