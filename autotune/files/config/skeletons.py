"""Reads skeletons from YAML (schema autotune.skeleton/1)."""

from collections.abc import Callable, Mapping
from functools import partial
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
from autotune.files.config.notations import object_schema
from autotune.files.parsing.yaml_document import Keys

SCHEMA = "autotune.skeleton/1"

_STEPS: Mapping[str, object] = {
    "call": Text,
    "loop": LoopStep,
    "comm": Text,
    "sync": Literal[True],
    "swap": tuple[Text, Text],
}
"""What stands under the key of a kind of step. A loop is keys and values; of the others a value
stands alone.
"""


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
    stated = LOST if value is None else reader.value(*split(_STEPS[key]), value, keys)
    if stated is LOST or key == "loop":
        return stated
    if key == "sync":
        return SyncStep()
    if key == "swap":
        return unchecked(SwapStep, *cast(tuple[str, str], stated))
    return unchecked(CallStep if key == "call" else CommStep, stated)


def _step_schema(of: Callable[[object], dict[str, object]]) -> dict[str, object]:
    keys = {key: of(kind) for key, kind in _STEPS.items()}
    single = object_schema(keys) | {"minProperties": 1, "maxProperties": 1}
    return {"anyOf": [{"const": "sync"}, single]}


FORMS[Step] = FileForm(_read_step, _step_schema)


read_skeleton = partial(read_file, schema=SCHEMA, kind=Skeleton, at=("kernels",))
