"""Writes machines, calibrations and networks as YAML that reads back as the same values."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast, get_args

import yaml

from autotune.domain.annotations import FileColumn
from autotune.domain.calibration import Calibration
from autotune.domain.cost_curve import OPERATIONS
from autotune.domain.machine import UNVERIFIED, Machine
from autotune.domain.network import Network
from autotune.files.config import machines, measured_files
from autotune.files.config.file_fields import fields_of, is_record, notation_of, required, split
from autotune.files.parsing.yaml_document import Plain, scalar


def dump_machine(machine: Machine) -> str:
    """A machine as the text of its file; each number has its source beside it where
    there is one.
    """
    tree = {name: _sourced(value, name, machine) for name, value in tree_of(machine).items()}
    if machine.network is not None:
        tree["network"] = _network_tree(machine.network)
    return _text({"schema": machines.SCHEMA, **tree})


def dump_calibration(calibration: Calibration) -> str:
    """A calibration as the text of its file."""
    return _text({"schema": measured_files.CALIBRATION, **tree_of(calibration)})


def dump_network(network: Network) -> str:
    """A network as the text of its file."""
    return _text({"schema": measured_files.NETWORK, **_network_tree(network)})


def _network_tree(network: Network) -> dict[str, Plain]:
    """The curves of a network as plain values, ordered by operation, nodes and ranks."""
    order = sorted(network.curves, key=lambda c: (OPERATIONS.index(c.operation), c.nodes, c.ranks))
    return tree_of(replace(network, curves=tuple(order)))


def tree_of(value: object) -> dict[str, Plain]:
    """A frozen value as plain values by key, without values that are empty or None."""
    tree: dict[str, Plain] = {}
    rows: dict[str, list[dict[str, Plain]]] = {}
    for field in fields_of(type(value)):
        item = getattr(value, field.name)
        empty = not field.required and item == field.default and item in ("", (), {})
        if field.derived or item is None or empty:
            continue
        column = field.note(FileColumn)
        if column is None:
            tree[field.key] = _plain(item, field.kind, field.notes)
            continue
        kind, notes = split(get_args(field.kind)[0])
        cells = rows.setdefault(column.key, [{} for _ in item])
        tree[column.key] = cast("list[Plain]", cells)
        for row, cell in zip(cells, item, strict=True):
            row[column.part] = _plain(cell, kind, notes)
    return tree


def _plain(value: object, annotation: object, notes: Sequence[object]) -> Plain:
    """A value of an annotated type in the form in which files have it."""
    kind, inner = required(annotation)
    notation = notation_of(kind, (*inner, *notes))
    if notation is not None:
        return notation.write(value)
    if is_record(kind):
        value = value if isinstance(value, kind) else kind(*cast("Sequence[object]", value))
        return tree_of(value)
    arguments = get_args(kind)
    if isinstance(value, Mapping):
        return {str(key): _plain(item, *split(arguments[-1])) for key, item in value.items()}
    if isinstance(value, tuple):
        kinds = arguments if arguments[-1] is not Ellipsis else arguments[:1] * len(value)
        return [_plain(item, *split(of)) for item, of in zip(value, kinds, strict=True)]
    return cast(Plain, value)


def _sourced(value: Plain, key: str, machine: Machine) -> Plain:
    """The value, and the values inside it, with their sources beside them."""
    source = machine.sources.get(key)
    if isinstance(value, list) and key == "caches":
        names = [cache.name for cache in machine.caches]
        return [
            _sourced(item, f"{key}.{name}", machine)
            for item, name in zip(value, names, strict=True)
        ]
    if isinstance(value, dict):
        return {name: _sourced(item, f"{key}.{name}", machine) for name, item in value.items()}
    return value if source is None else _with_source(value, source)


def _with_source(value: Plain, source: str) -> dict[str, Plain]:
    bare = source.removesuffix(UNVERIFIED)
    tree: dict[str, Plain] = {"value": value}
    if bare == source:
        return tree | {"source": source}
    if bare.strip():
        tree["source"] = bare.strip()
    return tree | {"unverified": True}


class _Dumper(yaml.SafeDumper):
    """Writes YAML, with quotes around text that would read back as another type."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002
        return True


def _represent_text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = None if scalar(value) == value and value.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _represent_flat(dumper: yaml.SafeDumper, value: Mapping[str, Plain]) -> yaml.MappingNode:
    flat = 0 < len(value) <= 4 and not any(isinstance(v, dict | list) for v in value.values())
    return dumper.represent_mapping("tag:yaml.org,2002:map", value.items(), flow_style=flat)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(dict, _represent_flat)


def _text(tree: dict[str, Plain]) -> str:
    return yaml.dump(tree, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
