"""What every document keeps to: a frozen class with a schema first, and a form in JSON."""

import ast
import collections.abc
import dataclasses
import importlib
import inspect
import pathlib
import types
import typing

import pytest
import typer

import autotune
from autotune.commands.app import app
from autotune.commands.documents import DOCUMENTS, documents
from autotune.files.json_schema import document_schema

SCALARS = (str, int, float, bool, pathlib.Path, types.NoneType)
ROOT = pathlib.Path(autotune.__file__).parent


def classes(annotation: object) -> typing.Iterator[type]:
    """The dataclasses that an annotation is made of; AssertionError where it is no JSON."""
    while isinstance(annotation, typing.NewType):
        annotation = annotation.__supertype__
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        yield from classes(inner[0])
    elif origin in (typing.Union, types.UnionType, tuple, frozenset, collections.abc.Mapping):
        for part in inner:
            if part is not Ellipsis:
                yield from classes(part)
    elif origin is typing.Literal:
        assert all(isinstance(value, str) for value in inner)
    elif hasattr(annotation, "_fields"):
        for part in typing.get_type_hints(annotation, include_extras=True).values():
            yield from classes(part)
    elif dataclasses.is_dataclass(annotation):
        yield typing.cast(type, annotation)
    else:
        assert annotation in SCALARS, annotation


def reached(start: type) -> set[type]:
    """A class and all that its fields are made of."""
    found, waiting = {start}, [start]
    while waiting:
        hints = typing.get_type_hints(waiting.pop(), include_extras=True)
        new = {part for hint in hints.values() for part in classes(hint)} - found
        found |= new
        waiting += new
    return found


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.__name__)
def test_a_document_is_frozen_documented_and_has_a_form_in_json(document: type) -> None:
    assert dataclasses.fields(document)[0].name == "schema"
    for part in reached(document):
        assert part.__dataclass_params__.frozen, part  # type: ignore[attr-defined]
        assert (inspect.getdoc(part) or "").strip(), part
        assert not (part.__doc__ or "").startswith(f"{part.__name__}("), part
    properties = document_schema("autotune.sample/1", document)["properties"]
    assert isinstance(properties, dict)
    assert next(iter(properties)) == "schema"


def test_every_document_is_listed_under_its_schema() -> None:
    found = documents()
    assert all(name.startswith("autotune.") and name.endswith("/1") for name in found)
    defined = set()
    for room in ("commands", "results"):
        for path in sorted((ROOT / room).rglob("*document.py")):
            module = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and node.name.endswith("Document"):
                    defined.add(getattr(importlib.import_module(module), node.name))
    assert set(found.values()) == set(DOCUMENTS) == defined


def with_json(group: typer.Typer, *before: str) -> typing.Iterator[str]:
    """The words of every command that has ``--json``, joined by dots."""
    for command in group.registered_commands:
        assert command.callback is not None
        if "json" in inspect.signature(command.callback).parameters:
            yield ".".join((*before, command.name or command.callback.__name__))
    for inner in group.registered_groups:
        assert inner.typer_instance is not None
        yield from with_json(inner.typer_instance, *before, str(inner.name))


def test_every_command_with_json_has_a_document() -> None:
    words = set(with_json(app))
    assert {"rank", "machine.refine", "learn.compare"} <= words
    assert {f"autotune.{name}/1" for name in words} - set(documents()) == set()
