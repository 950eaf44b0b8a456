"""Initial value problems from YAML (schema autotune.ivp/1)."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import Field

from autotune.domain.problem import Ivp, Region, offset
from autotune.errors import nearest
from autotune.files.config.fields import Expression, Model, Range, Text
from autotune.files.config.session import Session
from autotune.files.config.validation import validate
from autotune.files.config.yaml_document import Document, Keys
from autotune.language.expression import Expr, Ref, number, references, show, symbols

SCHEMA = "autotune.ivp/1"

_LARGEST_CHECK = 1_000_000
"""Components at most at the small sizes where regions are checked."""


class _Region(Model):
    range: Range
    columns: Range | None = None
    body: Expression


class _Ivp(Model):
    title: Text
    source: Text
    dimension: Expression
    row: Expression | None = None
    constants: dict[str, Expression] = Field(default_factory=dict)
    locals: dict[str, Expression] = Field(default_factory=dict)
    access_distance: Expression
    limited: bool
    minimum: int = Field(default=2, ge=2, le=64)
    start: float = 0.0
    stability: Expression
    regions: list[_Region] = Field(min_length=1)
    initial: list[_Region] = Field(min_length=1)


def read_ivp(session: Session, path: Path) -> Ivp | None:
    """The problem of a file, or None and faults."""
    known = len(session.faults)
    document = session.open(path, SCHEMA)
    model = validate(session, document, _Ivp) if document else None
    if document is None or model is None:
        return None
    _check_names(session, document, model)
    if len(session.faults) == known:
        _check_dimension(session, document, model)
    if len(session.faults) > known:
        return None
    ivp = _build(session, document, model)
    if ivp is not None:
        _check_distance(session, document, ivp)
    return ivp if len(session.faults) == known else None


def _build(session: Session, document: Document, model: _Ivp) -> Ivp | None:
    regions, initial = _regions(model.regions), _regions(model.initial)
    try:
        return Ivp(
            name=document.path.stem,
            title=model.title,
            source=model.source,
            dimension=model.dimension,
            constants=model.constants,
            locals=model.locals,
            row=model.row,
            access_distance=model.access_distance,
            limited=model.limited,
            regions=regions,
            initial=initial,
            start=model.start,
            stability=model.stability,
            minimum=model.minimum,
        )
    except ValueError as error:
        session.add(document.place(_region_keys(str(error), regions, initial)), str(error))
        return None


def _regions(models: Iterable[_Region]) -> tuple[Region, ...]:
    return tuple(
        Region(lower=m.range[0], upper=m.range[1], columns=m.columns, body=m.body) for m in models
    )


def _region_keys(message: str, regions: tuple[Region, ...], initial: tuple[Region, ...]) -> Keys:
    """Where the region is that a message of the domain names."""
    name, listed = ("initial", initial) if message.startswith("initial") else ("regions", regions)
    named = [(len(str(r)), i) for i, r in enumerate(listed) if str(r) in message]
    return (name, max(named)[1]) if named else (name,)


def _check_names(session: Session, document: Document, model: _Ivp) -> None:
    """Every symbol must be known where it is used, and bodies read only elements of y."""

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
    check(("dimension",), model.dimension, {"N"})
    for name, expr in model.constants.items():
        _check_new(session, document, ("constants", name), names)
        check(("constants", name), expr, names)
        names = names | {name}
    scalars = names
    for keys, bound in (
        (("row",), model.row),
        (("access_distance",), model.access_distance),
        (("stability",), model.stability),
    ):
        if bound is not None:
            check(keys, bound, scalars)
    names = scalars | {"j", "t"}
    for name, expr in model.locals.items():
        _check_new(session, document, ("locals", name), names)
        check(("locals", name), expr, names)
        names = names | {name}
    for key, listed in (("regions", model.regions), ("initial", model.initial)):
        for i, region in enumerate(listed):
            for part, bounds in (("range", region.range), ("columns", region.columns)):
                for bound in bounds or ():
                    check((key, i, part), bound, scalars)
            if region.columns is not None and model.row is None:
                where = document.place((key, i, "columns"))
                session.add(where, "columns without a row length", "the key row")
            check((key, i, "body"), region.body, names, reads=key == "regions")


def _check_new(session: Session, document: Document, keys: Keys, names: set[str]) -> None:
    name = str(keys[-1])
    if not name.isidentifier():
        session.add(document.key(keys), f"{name!r} is not a name", "letters and digits")
    elif name in names | {"y", "j", "t"}:
        session.add(document.key(keys), f"the name {name!r} is taken", "a name of its own")


def _check_dimension(session: Session, document: Document, model: _Ivp) -> None:
    """Numbers that are used to check regions must be whole and sane at the small sizes."""
    for size in _sizes(model.minimum):
        values: dict[str, float | int] = {"N": size}
        try:
            keys: Keys = ("dimension",)
            n = _whole(model.dimension, values)
            if not 1 <= n <= _LARGEST_CHECK:
                raise ValueError(f"n = {n}, not in 1 .. {_LARGEST_CHECK}")
            values["n"] = n
            for name, expr in model.constants.items():
                keys = ("constants", name)
                values[name] = number(expr, values)
            for key, bound in (("row", model.row), ("access_distance", model.access_distance)):
                keys = (key,)
                if bound is not None and _whole(bound, values) < (1 if key == "row" else 0):
                    raise ValueError(f"{show(bound)} = {_whole(bound, values)} is too small")
            keys = ("stability",)
            if not number(model.stability, values) > 0:
                raise ValueError(f"{show(model.stability)} is not positive")
            for inner, bound in _bounds(model):
                keys = inner
                _whole(bound, values)
        except ValueError as error:
            session.add(document.place(keys), f"at N = {size}: {error}")
            return


def _bounds(model: _Ivp) -> Iterable[tuple[Keys, Expr]]:
    for key, listed in (("regions", model.regions), ("initial", model.initial)):
        for i, region in enumerate(listed):
            for part, bounds in (("range", region.range), ("columns", region.columns)):
                for bound in bounds or ():
                    yield (key, i, part), bound


def _whole(expr: Expr, values: Mapping[str, float | int]) -> int:
    value = number(expr, values)
    if value != int(value):
        raise ValueError(f"{show(expr)} = {value!r} is not a whole number")
    return int(value)


def _sizes(minimum: int) -> list[int]:
    """Small sizes, even and odd ones."""
    return sorted({minimum, minimum + 1, max(minimum, 5)})


def _check_distance(session: Session, document: Document, ivp: Ivp) -> None:
    """Bodies read only y[0] .. y[n - 1] and no farther than the access distance."""
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
