"""Values that Python states where a YAML file would: as plain values with the keys as places."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from autotune.errors import Fault
from autotune.files.parsing.yaml_document import Document, Keys, Plain


def document_of(
    values: Mapping[str, object], path: Path, faults: list[Fault], keys: Keys = ()
) -> Document:
    """The document that values make; the place of a value is its keys joined by dots.

    ``path``: the file that it stands for, in whose folder relative names are looked up. ``keys``:
    those that lead to the document. Values that no file can hold are added to ``faults``.
    """
    root: dict[str, Plain] = {}
    for key, value in values.items():
        root[str(key)] = plain_value(value, ".".join(map(str, (*keys, key))), faults)
    places: dict[Keys, str] = {}
    for inner in _inner_keys(root, ()):
        places[inner] = ".".join(map(str, (*keys, *inner)))
    return Document(path, root, {(): ".".join(map(str, keys)), **places}, dict(places))


def _inner_keys(value: Plain, keys: Keys) -> list[Keys]:
    """The keys of every value inside another one."""
    items: Sequence[tuple[str | int, Plain]] = ()
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    listed: list[Keys] = []
    for key, item in items:
        listed += [(*keys, key), *_inner_keys(item, (*keys, key))]
    return listed


def plain_value(value: object, where: str, faults: list[Fault]) -> Plain:
    """A value as a YAML file holds it; one that no file can hold is added to ``faults``.

    Tuples, ranges and arrays become lists; numbers of NumPy those of Python; paths texts.

    >>> plain_value({"tile": (8, 16)}, "", []), plain_value(range(3), "", [])
    ({'tile': [8, 16]}, [0, 1, 2])
    """
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):  # numbers and arrays of NumPy
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        faults.append(Fault(where=where, found=f"the number {value}", expected="a finite number"))
        return None
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(k): plain_value(v, f"{where}.{k}", faults) for k, v in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain_value(v, f"{where}.{i}", faults) for i, v in enumerate(value)]
    hint = "write the names of what is chosen, and look it up" if where else ""
    found = "a function" if callable(value) else f"a value of type {type(value).__name__}"
    expected = "text, a number, True, False, None, or lists and dicts of them"
    faults.append(Fault(where=where, found=found, expected=expected, hint=hint))
    return None
