"""Reads spaces of variants from YAML (schema autotune.space/1)."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

from autotune.domain.skeleton import Skeleton
from autotune.domain.space import (
    OF_GRIDS,
    TRANSFORMATIONS,
    Choice,
    Rule,
    Space,
    TransformationKind,
    When,
    kinds_for,
    within,
)
from autotune.domain.variant import Interchange, Value
from autotune.errors import nearest, one_of, unknown_name
from autotune.files.config.facts import (
    FORMS,
    LOST,
    FactReader,
    FileForm,
    altered,
    draft,
    settle,
    unchecked,
)
from autotune.files.config.file_fields import split
from autotune.files.config.session import Session
from autotune.files.config.skeletons import read_skeleton
from autotune.files.parsing.yaml_document import Document, Keys, describe

SCHEMA = "autotune.space/1"

"""The kinds of transformation of kernels that apply stencils."""


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
    kinds: dict[str, object] = {
        kind: {
            "type": "object",
            "properties": {field.name: of(Choice) for field in fields(made)},
            "required": [field.name for field in fields(made)],
            "additionalProperties": False,
        }
        for kind, made in TRANSFORMATIONS.items()
    }
    return {
        "type": "object",
        "properties": {**kinds, "when": of(When)},
        "additionalProperties": False,
    }


FORMS[Rule] = FileForm(_read_rule, _rule_schema)


def read_space(session: Session, path: Path) -> Space | None:
    """The space in a file, checked against its skeleton; None with faults noted where
    it is wrong.
    """
    faults_before = len(session.faults)
    document = session.open(path, SCHEMA)
    stated = draft(session, document, Space, name=path.stem) if document else None
    if document is None or stated is None:
        return None
    where = document.place(("skeleton",))
    skeleton_path = session.resolve(stated.skeleton, "variants/skeleton", path.parent, where)
    skeleton = session.once(skeleton_path, read_skeleton) if skeleton_path else None
    _check_domains(session, document, stated)
    sound = [_check_rule(session, document, stated, i) for i in range(len(stated.rules))]
    for i, constraint in enumerate(stated.constraints):
        _check_when(session, document, stated, constraint.when, ("constraints", i, "when"))
    if skeleton is not None:
        for i, rule in enumerate(stated.rules):
            if sound[i]:
                _check_names(session, document, stated, rule, i, skeleton)
    if skeleton is None or len(session.faults) > faults_before:
        return None
    return settle(session, document, altered(stated, skeleton=skeleton.name), at=("rules",))


def _check_domains(session: Session, document: Document, space: Space) -> None:
    for name, domain in space.parameters.items():
        if not domain:
            session.add(document.place(("parameters", name)), f"{name} has no values")
        for i, value in enumerate(domain):
            if within(value, domain[:i]):
                where = document.place(("parameters", name, i))
                session.add(where, f"{name}: {describe(value)} is here again", "each value once")
    for name in space.parameters:
        if name not in space.baseline:
            where = document.place(("baseline",))
            session.add(where, f"the baseline has no value of {name}", "a value per parameter")
    for name, value in space.baseline.items():
        _check_value(session, document, space, ("baseline", name), name, (value,))


def _check_value(
    session: Session,
    document: Document,
    space: Space,
    keys: Keys,
    name: str,
    values: tuple[Value, ...],
) -> None:
    """Check that the name is a parameter and the values are in its domain."""
    if name not in space.parameters:
        where = document.key(keys)
        session.faults.append(unknown_name(where, "parameter", name, space.parameters))
        return
    domain = space.parameters[name]
    for value in values:
        if not within(value, domain):
            allowed = ["null" if v is None else str(v).lower() if isinstance(v, bool) else str(v)
                       for v in domain]  # fmt: skip
            hint = nearest(str(value), allowed)
            found = f"{name}: {describe(value)} is not one of its values"
            session.add(document.place(keys), found, one_of(allowed), hint)


def _check_when(session: Session, document: Document, space: Space, when: When, keys: Keys) -> None:
    """Check that a condition uses names of parameters and values in their domains."""
    for name, values in when.items():
        _check_value(session, document, space, (*keys, name), name, values)


def _check_rule(session: Session, document: Document, space: Space, i: int) -> bool:
    """Whether a rule gives a transformation for every value at which it applies; faults
    are noted.
    """
    rule = space.rules[i]
    faults_before = len(session.faults)
    _check_when(session, document, space, rule.when, ("rules", i, "when"))
    keys: Keys = ("rules", i, rule.kind)
    for name, value in rule.arguments.items():
        if isinstance(value, str) and value.startswith("$") and value[1:] not in space.parameters:
            where, names = document.place((*keys, name)), [f"${p}" for p in space.parameters]
            session.faults.append(unknown_name(where, "parameter", value, names))
    if len(session.faults) > faults_before:
        return False
    try:
        _space_of_rule(space, rule)
    except ValueError as error:
        session.add(document.place(keys), str(error))
        return False
    return True


def _space_of_rule(space: Space, rule: Rule) -> Space:
    """A space with this one rule, which can be constructed only if the rule fits the parameters."""
    return Space(
        name="",
        title="",
        skeleton="",
        parameters=space.parameters,
        rules=(rule,),
    )


def _check_names(
    session: Session, document: Document, space: Space, rule: Rule, i: int, skeleton: Skeleton
) -> None:
    """Check that the kernels and arrays of a rule are in the skeleton, and its loop orders fit the
    kernels.
    """
    for name, value in rule.arguments.items():
        keys: Keys = ("rules", i, rule.kind, name)
        if not isinstance(value, str) or value.startswith("$"):
            continue
        kind, names = ("array", list(skeleton.arrays)) if name == "buffer" else (
            "kernel", list(skeleton.kernels))  # fmt: skip
        if name in ("order", "dimension"):
            continue
        if value not in names:
            session.faults.append(unknown_name(document.place(keys), kind, value, names))
            continue
        fitting = kinds_for(skeleton.kernels[value]) if kind == "kernel" else (rule.kind,)
        if rule.kind not in fitting:
            what = "applies no stencil" if rule.kind in OF_GRIDS else "applies a stencil"
            found = f"{rule.kind}: {value} {what}"
            session.add(document.place(keys), found, one_of([*fitting, "pad"]))
    if rule.kind != "interchange":
        return
    kernel, order = rule.arguments["kernel"], rule.arguments["order"]
    if not isinstance(kernel, str) or kernel not in skeleton.kernels:
        return
    loops = skeleton.kernels[kernel].loops
    parameter = str(order)[1:] if str(order).startswith("$") else ""
    choices = space.parameters[parameter] if parameter else (order,)
    for k, choice in enumerate(choices):
        made = Interchange(kernel, tuple(str(choice)))
        if sorted(made.order) != sorted(loops):
            where = ("parameters", parameter, k) if parameter else ("rules", i, rule.kind, "order")
            found = f"{describe(choice)} is not an order of the loops of {kernel}"
            session.add(document.place(where), found, f"each of {', '.join(loops)} once")
