"""Reads initial value problems from YAML (schema autotune.ivp/1)."""

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path

from autotune.domain.problem import Ivp, Region, offset
from autotune.errors import nearest
from autotune.files.config.facts import draft
from autotune.files.config.session import Session
from autotune.files.parsing.yaml_document import Document, Keys
from autotune.language.expression import Expr, Ref, number, references, show, symbols

SCHEMA = "autotune.ivp/1"

_LARGEST_CHECK = 1_000_000
"""Components at most at the small sizes where regions are checked."""


def read_ivp(session: Session, path: Path) -> Ivp | None:
    """The problem in a file; None with faults noted where it cannot be read."""
    faults_before = len(session.faults)
    document = session.open(path, SCHEMA)
    stated = draft(session, document, Ivp, name=path.stem) if document else None
    if document is None or stated is None:
        return None
    _check_names(session, document, stated)
    if len(session.faults) == faults_before:
        _check_dimension(session, document, stated)
    if len(session.faults) > faults_before:
        return None
    ivp = _build(session, document, stated)
    if ivp is not None:
        _check_distance(session, document, ivp)
    return ivp if len(session.faults) == faults_before else None


def _build(session: Session, document: Document, stated: Ivp) -> Ivp | None:
    try:
        return dataclasses.replace(stated)
    except ValueError as error:
        keys = _region_keys(str(error), stated.regions, stated.initial)
        session.add(document.place(keys), str(error))
        return None


def _region_keys(message: str, regions: tuple[Region, ...], initial: tuple[Region, ...]) -> Keys:
    """The keys of the region that an error message of the domain names."""
    name, listed = ("initial", initial) if message.startswith("initial") else ("regions", regions)
    named = [(len(str(r)), i) for i, r in enumerate(listed) if str(r) in message]
    return (name, max(named)[1]) if named else (name,)


def _check_names(session: Session, document: Document, ivp: Ivp) -> None:
    """Check that every symbol is known where it is used, and that bodies read only
    elements of y.
    """

    def check(keys: Keys, expr: Expr, names: set[str], *, reads: bool = False) -> None:
        place = document.place(keys)
        for name in sorted(symbols(expr) - names):
            expected = "one of " + ", ".join(sorted(names))
            session.add(place, f"unknown name {name!r}", expected, nearest(name, names))
        for ref in references(expr):
            if not reads:
                session.add(
                    place, f"{show(ref)} is an array element", "a term that reads no element"
                )
            elif ref.array != "y" or len(ref.indices) != 1:
                session.add(place, f"{show(ref)} is not known", "elements of y: y[j - 1]")

    names = {"N", "n"}
    check(("dimension",), ivp.dimension, {"N"})
    for name, expr in ivp.constants.items():
        _check_new(session, document, ("constants", name), names)
        check(("constants", name), expr, names)
        names = names | {name}
    scalars = names
    for keys, bound in (
        (("row",), ivp.row),
        (("access_distance",), ivp.access_distance),
        (("stability",), ivp.stability),
    ):
        if bound is not None:
            check(keys, bound, scalars)
    names = scalars | {"j", "t"}
    for name, expr in ivp.locals.items():
        _check_new(session, document, ("locals", name), names)
        check(("locals", name), expr, names)
        names = names | {name}
    for key, listed in (("regions", ivp.regions), ("initial", ivp.initial)):
        for i, region in enumerate(listed):
            for part, bound in _bounds_of(region):
                check((key, i, part), bound, scalars)
            if region.columns is not None and ivp.row is None:
                where = document.place((key, i, "columns"))
                session.add(where, "columns without a row length", "the key row")
            check((key, i, "body"), region.body, names, reads=key == "regions")


def _check_new(session: Session, document: Document, keys: Keys, names: set[str]) -> None:
    name = str(keys[-1])
    if not name.isidentifier():
        session.add(document.key(keys), f"{name!r} is not a name", "letters and digits")
    elif name in names | {"y", "j", "t"}:
        session.add(document.key(keys), f"the name {name!r} is taken", "a name of its own")


def _check_dimension(session: Session, document: Document, ivp: Ivp) -> None:
    """Check that the numbers which bound regions are whole and plausible at small sizes."""
    for size in _sizes(ivp.minimum):
        values: dict[str, float | int] = {"N": size}
        try:
            keys: Keys = ("dimension",)
            n = _whole(ivp.dimension, values)
            if not 1 <= n <= _LARGEST_CHECK:
                raise ValueError(f"n = {n}, not in 1 .. {_LARGEST_CHECK}")
            values["n"] = n
            for name, expr in ivp.constants.items():
                keys = ("constants", name)
                values[name] = number(expr, values)
            for key, bound in (("row", ivp.row), ("access_distance", ivp.access_distance)):
                keys = (key,)
                if bound is not None and _whole(bound, values) < (1 if key == "row" else 0):
                    raise ValueError(f"{show(bound)} = {_whole(bound, values)} is too small")
            keys = ("stability",)
            if not number(ivp.stability, values) > 0:
                raise ValueError(f"{show(ivp.stability)} is not positive")
            for inner, bound in _bounds(ivp):
                keys = inner
                _whole(bound, values)
        except ValueError as error:
            session.add(document.place(keys), f"at N = {size}: {error}")
            return


def _bounds(ivp: Ivp) -> Iterable[tuple[Keys, Expr]]:
    for key, listed in (("regions", ivp.regions), ("initial", ivp.initial)):
        for i, region in enumerate(listed):
            for part, bound in _bounds_of(region):
                yield (key, i, part), bound


def _bounds_of(region: Region) -> Iterable[tuple[str, Expr]]:
    """The bounds of a region, each with the key that states it."""
    yield from (("range", region.lower), ("range", region.upper))
    yield from (("columns", bound) for bound in region.columns or ())


def _whole(expr: Expr, values: Mapping[str, float | int]) -> int:
    value = number(expr, values)
    if value != int(value):
        raise ValueError(f"{show(expr)} = {value!r} is not a whole number")
    return int(value)


def _sizes(minimum: int) -> list[int]:
    """Some small sizes, even and odd ones, from ``minimum`` on."""
    return sorted({minimum, minimum + 1, max(minimum, 5)})


def _check_distance(session: Session, document: Document, ivp: Ivp) -> None:
    """Check that bodies read only y[0] .. y[n - 1], and nothing beyond the access distance."""
    for i, region in enumerate(ivp.regions):
        place = document.place(("regions", i, "body"))
        for ref in references(region.body):
            for size in _sizes(ivp.minimum):
                fault = _distance_fault(ivp, region, ref, size)
                if fault:
                    session.add(place, f"region {region}: {show(ref)} {fault} at N = {size}")
                    break


def _distance_fault(ivp: Ivp, region: Region, ref: Ref, size: int) -> str:
    values = ivp.values(size)
    try:
        reach = offset(ref, values)
    except ValueError:
        return "is not y[j + a number that does not depend on j or t]"
    if abs(reach) > ivp.distance(size):
        return f"reaches {abs(reach)}, farther than the access distance {ivp.distance(size)},"
    members = [part for part in ivp.members(region, size) if part]
    if members and not 0 <= members[0].start + reach <= members[-1][-1] + reach < values["n"]:
        return f"leaves y[0] .. y[{values['n'] - 1}]"
    return ""
