"""Reads spaces of variants from YAML (schema autotune.space/1)."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

from autotune import paths
from autotune.domain.misfit import Misfit
from autotune.domain.setup import Generated
from autotune.domain.space import TRANSFORMATIONS, Choice, Rule, Space, TransformationKind, When
from autotune.errors import one_of
from autotune.files.config.facts import (
    FORMS,
    LOST,
    FactReader,
    FileForm,
    altered,
    draft,
    note_misfits,
    settle,
    unchecked,
)
from autotune.files.config.file_fields import split
from autotune.files.config.notations import object_schema
from autotune.files.config.session import Session
from autotune.files.config.skeletons import read_skeleton
from autotune.files.parsing.yaml_document import Keys

SCHEMA = "autotune.space/1"


def _read_rule(reader: FactReader, value: object, keys: Keys) -> object:
    """A rule of a space: ``{tile: {kernel: lc, size: $tile}, when: {tile: 256}}``; the first key is
    its kind.
    """
    if not isinstance(value, dict):
        return reader.refuse(keys, value, "keys and values")
    faults_before = len(reader.session.faults)
    reader.refuse_others((*TRANSFORMATIONS, "when"), value, keys)
    given = [kind for kind in TRANSFORMATIONS if kind in value]
    arguments = [
        _arguments(reader, kind, value[kind], (*keys, kind))
        for kind in given
        if value[kind] is not None
    ]
    when = reader.value(When, (), value.get("when", {}), (*keys, "when"))
    if len(given) == len(arguments) == 1 and arguments[0] is not LOST:
        return unchecked(Rule, given[0], arguments[0], {} if when is LOST else when)
    reader.broken = True
    if len(reader.session.faults) > faults_before:
        return LOST
    return reader.fault(keys, f"a rule is exactly {one_of(sorted(TRANSFORMATIONS))}, and when")


def _arguments(reader: FactReader, kind: TransformationKind, value: object, keys: Keys) -> object:
    """The fields of a transformation; each is a plain value or the name of a parameter."""
    if not isinstance(value, dict):
        return reader.refuse(keys, value, "keys and values")
    names = [field.name for field in fields(TRANSFORMATIONS[kind])]
    reader.refuse_others(names, value, keys)
    arguments: dict[str, object] = {}
    for name in names:
        if name not in value:
            reader.missing(name, "", keys)
            return LOST
        arguments[name] = reader.value(*split(Choice), value[name], (*keys, name))
    return LOST if LOST in arguments.values() else arguments


def _rule_schema(of: Callable[[object], dict[str, object]]) -> dict[str, object]:
    kinds: dict[str, object] = {}
    for kind, made in TRANSFORMATIONS.items():
        keys = {field.name: of(Choice) for field in fields(made)}
        kinds[kind] = object_schema(keys, list(keys))
    return object_schema({**kinds, "when": of(When)})


FORMS[Rule] = FileForm(_read_rule, _rule_schema)


def read_generated(session: Session, path: Path) -> Generated | None:
    """The space in a file and the skeleton that it names; None with faults noted where one of them
    is wrong.
    """
    faults_before = len(session.faults)
    document = session.open(path, SCHEMA)
    stated = draft(session, document, Space, name=paths.stem(path)) if document else None
    if document is None or stated is None:
        return None
    skeleton = session.follow(
        document, ("skeleton",), "variants/skeleton", read_skeleton, stated.skeleton
    )
    if not stated.baseline:
        absent = Misfit(("baseline",), "the baseline has no values", "a value per parameter")
        note_misfits(session, document, [absent])
    if skeleton is not None:
        note_misfits(session, document, stated.misfits_in(skeleton))
        stated = altered(stated, skeleton=skeleton.name)
    space = settle(session, document, stated, at=("rules",))
    if skeleton is None or space is None or len(session.faults) > faults_before:
        return None
    return Generated(skeleton=skeleton, space=space)
