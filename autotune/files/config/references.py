"""Published tables from YAML (schema autotune.reference/1)."""

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from autotune.domain.reference import Figure, PublishedGroup, PublishedRow, Reference, Share
from autotune.domain.setup import Layout, Setup
from autotune.errors import nearest, one_of
from autotune.files.config.fields import Model, Read, Text, Time, quantity
from autotune.files.config.session import Session
from autotune.files.config.validation import validate
from autotune.files.config.yaml_document import Document, describe

SCHEMA = "autotune.reference/1"

_PERCENT = re.compile(r"\s*([-+]?\d+(?:\.\d+)?)\s*%\s*")
_STAND_IN = Figure(printed=1.0)


def _seconds(value: object) -> float:
    return quantity("time")(value)


def _share(value: object) -> float:
    match = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"{describe(value)} is not a percentage such as -3.6 %")
    return float(f"{match.group(1)}e-2")


class _Figure:
    """Reads a number as it was printed, or a mapping that marks its erratum."""

    KEYS = ("printed", "corrected", "suspect", "reason")

    def __init__(self, dimension: Literal["time", "share"]) -> None:
        self._number = _seconds if dimension == "time" else _share

    def __call__(self, value: object) -> Figure:
        if not isinstance(value, dict):
            return Figure(printed=self._number(value))
        for key in value:
            if key not in self.KEYS:
                hint = nearest(str(key), self.KEYS)
                raise ValueError(f"unknown key {key!r}; {one_of(self.KEYS)} {hint and f'({hint})'}")
        suspect, reason = value.get("suspect", False), value.get("reason", "")
        if not isinstance(suspect, bool) or not isinstance(reason, str):
            raise ValueError("suspect is true or false, reason is text")
        corrected = value.get("corrected")
        return Figure(
            printed=self._number(value.get("printed")),
            corrected=None if corrected is None else self._number(corrected),
            suspect=suspect,
            reason=reason,
        )


_Seconds = Annotated[Figure, Read(_Figure("time"), _STAND_IN)]
_Deviation = Annotated[Figure, Read(_Figure("share"))]


class _Share(Model):
    predicted: _Seconds
    measured: _Seconds
    deviation: _Deviation | None = None


class _Row(_Share):
    variant: Text
    application: _Share | None = None
    communication: _Share | None = None


class _Group(Model):
    communication: Literal["none", "allgather", "neighbour", "sparse"]
    source: Text
    resolution: Time = Field(description="the unit of the last printed digit: 10 ms")
    rows: list[_Row] = Field(min_length=1)


class _Problem(Model):
    ivp: Text
    method: Text
    correctors: int = Field(ge=1)
    n: int = Field(ge=1, description="the number of components")


class _Layout(Model):
    nodes: int = Field(default=1, ge=1)
    ranks: int = Field(default=1, ge=1)
    threads: int = Field(ge=1)


class _Rule(Model):
    variant: Text
    source: Text


class _Reference(Model):
    title: Text
    source: Text
    machine: Text
    compiler: Text
    model: Text
    problem: _Problem
    layout: _Layout
    parameter: Text = Field(description="the parameter of the space whose values name the rows")
    rule: _Rule = Field(description="the variant that the constant rule always chooses")
    groups: list[_Group] = Field(min_length=1)
    notes: list[Text] = Field(default_factory=list)


def read_reference(session: Session, path: Path) -> Reference | None:
    """The published table of a file, or None and faults."""
    known = len(session.faults)
    document = session.open(path, SCHEMA)
    model = validate(session, document, _Reference) if document else None
    if document is None or model is None:
        return None
    groups = [_group(session, document, i, group) for i, group in enumerate(model.groups)]
    if len(session.faults) > known:
        return None
    try:
        return Reference(
            name=path.stem,
            title=model.title,
            source=model.source,
            machine=model.machine,
            compiler=model.compiler,
            model=model.model,
            **dict(model.problem),
            **dict(model.layout),
            parameter=model.parameter,
            rule=model.rule.variant,
            rule_source=model.rule.source,
            groups=tuple(group for group in groups if group),
            notes=tuple(model.notes),
        )
    except ValueError as error:
        session.add(document.place(("groups",)), str(error))
        return None


def _group(session: Session, document: Document, i: int, model: _Group) -> PublishedGroup | None:
    rows, keys = [], ("groups", i, "rows")
    for k, row in enumerate(model.rows):
        try:
            rows.append(
                PublishedRow(
                    variant=row.variant,
                    predicted=row.predicted,
                    measured=row.measured,
                    deviation=row.deviation,
                    application=_share_of(row.application),
                    communication=_share_of(row.communication),
                )
            )
        except ValueError as error:
            session.add(document.place((*keys, k)), str(error))
    if len(rows) < len(model.rows):
        return None
    try:
        return PublishedGroup(
            communication=model.communication,
            source=model.source,
            resolution=model.resolution,
            rows=tuple(rows),
        )
    except ValueError as error:
        session.add(document.place(keys), str(error))
        return None


def _share_of(model: _Share | None) -> Share | None:
    if model is None:
        return None
    return Share(predicted=model.predicted, measured=model.measured, deviation=model.deviation)


def check_reference(session: Session, setup: Setup) -> None:
    """Note at its key ``reference`` what of the published table a study cannot have."""
    found, where = setup.reference, setup.place("reference")
    if found is None:
        return
    if not any(found.about(problem) for problem in setup.problems):
        wanted = f"{found.ivp}, {found.method}, {found.correctors} correctors, n = {found.n}"
        given = ", ".join(f"{p.label} with n = {p.n}" for p in setup.problems)
        session.add(where, f"{found.name} is about {wanted}", f"a problem like it, not {given}")
    if not any(_same_layout(found, layout) for layout in setup.layouts):
        session.add(where, f"{found.name} was run on {found.layout}", "a layout like it")
    absent = [g.communication for g in found.groups if g.communication != "none"]
    absent = [way for way in absent if way not in setup.communications]
    if absent:
        text = f"{found.name} has rows of communication {', '.join(absent)}"
        session.add(where, text, f"communication: {', '.join((*setup.communications, *absent))}")
    values = setup.space.parameters.get(found.parameter)
    if values is None:
        text = f"{found.name} names values of {found.parameter!r}, no parameter of space"
        session.add(where, f"{text} {setup.space.name}", one_of(sorted(setup.space.parameters)))
        return
    names = [value for value in values if isinstance(value, str)]
    for variant in dict.fromkeys((*found.variants, found.rule)):
        if variant not in names:
            text = f"{found.name} has a row {variant!r}, which space {setup.space.name} lacks"
            session.add(where, text, one_of(names), nearest(variant, names))


def _same_layout(found: Reference, layout: Layout) -> bool:
    return (layout.nodes, layout.ranks) == (found.nodes, found.ranks) and layout.threads in (
        found.threads, "all",
    )  # fmt: skip
