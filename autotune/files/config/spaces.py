"""Spaces of variants from YAML (schema autotune.space/1)."""

from dataclasses import fields
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from autotune.domain.skeleton import Skeleton
from autotune.domain.space import TRANSFORMATIONS, Constraint, Rule, Space, within
from autotune.domain.variant import Interchange, Value
from autotune.errors import nearest, one_of, unknown_name
from autotune.files.config.fields import Choices, Model, PlainValue, Text
from autotune.files.config.session import Session
from autotune.files.config.skeletons import read_skeleton
from autotune.files.config.validation import validate
from autotune.files.config.yaml_document import Document, Keys, describe

SCHEMA = "autotune.space/1"

When = dict[str, tuple[Value, ...]]

_OF_GRIDS = ("block", "unroll")
"""The kinds of transformation of kernels that apply stencils."""


class _Interchange(Model):
    kernel: PlainValue
    order: PlainValue


class _Fuse(Model):
    first: PlainValue
    second: PlainValue


class _Tile(Model):
    kernel: PlainValue
    size: PlainValue


class _FuseTiles(Model):
    first: PlainValue
    second: PlainValue
    size: PlainValue
    buffer: PlainValue


class _Pad(Model):
    lines: PlainValue


class _Block(Model):
    kernel: PlainValue
    dimension: PlainValue
    size: PlainValue


class _Unroll(Model):
    kernel: PlainValue
    dimension: PlainValue
    factor: PlainValue


class _Rule(Model):
    interchange: _Interchange | None = None
    fuse: _Fuse | None = None
    tile: _Tile | None = None
    fuse_tiles: _FuseTiles | None = None
    pad: _Pad | None = None
    block: _Block | None = None
    unroll: _Unroll | None = None
    when: dict[str, Choices] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one(self) -> "_Rule":
        if len(self.model_fields_set & set(TRANSFORMATIONS)) != 1 or self.kind is None:
            raise ValueError(f"a rule is exactly {one_of(sorted(TRANSFORMATIONS))}, and when")
        return self

    @property
    def kind(self) -> str | None:
        given = (name for name in TRANSFORMATIONS if getattr(self, name) is not None)
        return next(given, None)


class _Constraint(Model):
    when: dict[str, Choices] = Field(min_length=1)
    require: Literal["limited", "never"]
    reason: Text


class _Space(Model):
    title: Text
    skeleton: Text
    parameters: dict[str, list[PlainValue]] = Field(min_length=1)
    rules: list[_Rule]
    constraints: list[_Constraint] = Field(default_factory=list)
    baseline: dict[str, PlainValue]


def read_space(session: Session, path: Path) -> Space | None:
    """The space of a file, checked against its skeleton, or None and faults."""
    known = len(session.faults)
    document = session.open(path, SCHEMA)
    model = validate(session, document, _Space) if document else None
    if document is None or model is None:
        return None
    where = document.place(("skeleton",))
    skeleton_path = session.resolve(model.skeleton, "variants/skeleton", path.parent, where)
    skeleton = session.once(skeleton_path, read_skeleton) if skeleton_path else None
    _check_domains(session, document, model)
    rules = [_rule(session, document, model, i) for i in range(len(model.rules))]
    constraints = [
        Constraint(
            when=_when(session, document, model, ("constraints", i, "when")),
            require=constraint.require,
            reason=constraint.reason,
        )
        for i, constraint in enumerate(model.constraints)
    ]
    if skeleton is not None:
        for i, rule in enumerate(rules):
            if rule is not None:
                _check_names(session, document, model, rule, i, skeleton)
    if skeleton is None or len(session.faults) > known:
        return None
    try:
        return Space(
            name=path.stem,
            title=model.title,
            skeleton=skeleton.name,
            parameters={name: tuple(domain) for name, domain in model.parameters.items()},
            rules=tuple(rule for rule in rules if rule),
            constraints=tuple(constraints),
            baseline=model.baseline,
        )
    except ValueError as error:
        session.add(document.place(("rules",)), str(error))
        return None


def _check_domains(session: Session, document: Document, model: _Space) -> None:
    for name, domain in model.parameters.items():
        if not domain:
            session.add(document.place(("parameters", name)), f"{name} has no values")
        for i, value in enumerate(domain):
            if within(value, tuple(domain[:i])):
                where = document.place(("parameters", name, i))
                session.add(where, f"{name}: {describe(value)} is here again", "each value once")
    for name in model.parameters:
        if name not in model.baseline:
            where = document.place(("baseline",))
            session.add(where, f"the baseline has no value of {name}", "a value per parameter")
    for name, value in model.baseline.items():
        _check_value(session, document, model, ("baseline", name), name, (value,))


def _check_value(
    session: Session,
    document: Document,
    model: _Space,
    keys: Keys,
    name: str,
    values: tuple[Value, ...],
) -> None:
    """The name must be a parameter, the values in its domain."""
    if name not in model.parameters:
        where = document.key(keys)
        session.faults.append(unknown_name(where, "parameter", name, model.parameters))
        return
    domain = model.parameters[name]
    for value in values:
        if not within(value, tuple(domain)):
            allowed = ["null" if v is None else str(v).lower() if isinstance(v, bool) else str(v)
                       for v in domain]  # fmt: skip
            hint = nearest(str(value), allowed)
            found = f"{name}: {describe(value)} is not one of its values"
            session.add(document.place(keys), found, one_of(allowed), hint)


def _when(session: Session, document: Document, model: _Space, keys: Keys) -> When:
    """A condition, checked against the parameters."""
    when: When = getattr(model, str(keys[0]))[keys[1]].when
    for name, values in when.items():
        _check_value(session, document, model, (*keys, name), name, values)
    return when


def _rule(session: Session, document: Document, model: _Space, i: int) -> Rule | None:
    rule = model.rules[i]
    kind = rule.kind or ""
    known = len(session.faults)
    when = _when(session, document, model, ("rules", i, "when"))
    section = getattr(rule, kind)
    arguments = {f.name: getattr(section, f.name) for f in fields(TRANSFORMATIONS[kind])}
    keys: Keys = ("rules", i, kind)
    for name, value in arguments.items():
        if isinstance(value, str) and value.startswith("$") and value[1:] not in model.parameters:
            where, names = document.place((*keys, name)), [f"${p}" for p in model.parameters]
            session.faults.append(unknown_name(where, "parameter", value, names))
    made = Rule(kind=kind, arguments=arguments, when=when)
    if len(session.faults) > known:
        return None
    try:
        _values(model, made)
    except ValueError as error:
        session.add(document.place(keys), str(error))
        return None
    return made


def _values(model: _Space, rule: Rule) -> Space:
    """A space of this one rule: its construction says whether the rule fits its parameters."""
    return Space(
        name="",
        title="",
        skeleton="",
        parameters={name: tuple(domain) for name, domain in model.parameters.items()},
        rules=(rule,),
    )


def _check_names(
    session: Session, document: Document, model: _Space, rule: Rule, i: int, skeleton: Skeleton
) -> None:
    """Kernels and arrays that a rule names must be in the skeleton, orders those of its loops."""
    for name, value in rule.arguments.items():
        keys: Keys = ("rules", i, rule.kind, name)
        if not isinstance(value, str) or value.startswith("$"):
            continue
        kind, known = ("array", list(skeleton.arrays)) if name == "buffer" else (
            "kernel", list(skeleton.kernels))  # fmt: skip
        if name in ("order", "dimension"):
            continue
        if value not in known:
            session.faults.append(unknown_name(document.place(keys), kind, value, known))
        elif kind == "kernel" and skeleton.kernels[value].on_grid != (rule.kind in _OF_GRIDS):
            what = "applies a stencil" if rule.kind not in _OF_GRIDS else "applies no stencil"
            fitting = [k for k in TRANSFORMATIONS if k != "pad"
                       and (k in _OF_GRIDS) == skeleton.kernels[value].on_grid]  # fmt: skip
            found = f"{rule.kind}: {value} {what}"
            session.add(document.place(keys), found, one_of([*fitting, "pad"]))
    if rule.kind != "interchange":
        return
    kernel, order = rule.arguments["kernel"], rule.arguments["order"]
    if not isinstance(kernel, str) or kernel not in skeleton.kernels:
        return
    loops = skeleton.kernels[kernel].loops
    parameter = str(order)[1:] if str(order).startswith("$") else ""
    choices = model.parameters[parameter] if parameter else [order]
    for k, choice in enumerate(choices):
        made = Interchange(kernel, tuple(str(choice)))
        if sorted(made.order) != sorted(loops):
            where = ("parameters", parameter, k) if parameter else ("rules", i, rule.kind, "order")
            found = f"{describe(choice)} is not an order of the loops of {kernel}"
            session.add(document.place(where), found, f"each of {', '.join(loops)} once")
