"""Butcher tableaux from YAML (schema autotune.method/1)."""

from pathlib import Path

from pydantic import Field

from autotune.domain.problem import ROW_SUM_TOLERANCE, ButcherTableau
from autotune.files.config.fields import Coefficient, Model, Text
from autotune.files.config.session import Session
from autotune.files.config.validation import validate

SCHEMA = "autotune.method/1"


class _Method(Model):
    title: Text
    order: int = Field(ge=1)
    source: Text
    A: list[list[Coefficient]] = Field(min_length=1)
    b: list[Coefficient] = Field(min_length=1)
    c: list[Coefficient] = Field(min_length=1)


def read_method(session: Session, path: Path) -> ButcherTableau | None:
    """The tableau of a file, or None and faults."""
    known = len(session.faults)
    document = session.open(path, SCHEMA)
    model = validate(session, document, _Method) if document else None
    if document is None or model is None:
        return None
    s = len(model.b)
    if len(model.c) != s:
        session.add(document.place(("c",)), f"c has {len(model.c)} elements", f"{s}, as b has")
    if len(model.A) != s:
        session.add(document.place(("A",)), f"A has {len(model.A)} rows", f"{s}, as b has elements")
    for i, row in enumerate(model.A):
        place = document.place(("A", i))
        if len(row) != s:
            found = f"row {i + 1} of A has {len(row)} elements"
            session.add(place, found, f"{s}, as b has")
        elif i < len(model.c) and abs(sum(row) - model.c[i]) > ROW_SUM_TOLERANCE:
            found = f"row {i + 1} of A sums to {sum(row)!r}"
            expected = f"c[{i + 1}] = {model.c[i]!r}: row sums of A must equal c"
            session.add(place, found, expected)
    if len(session.faults) > known:
        return None
    try:
        return ButcherTableau(
            name=path.stem,
            title=model.title,
            order=model.order,
            A=tuple(tuple(row) for row in model.A),
            b=tuple(model.b),
            c=tuple(model.c),
            source=model.source,
        )
    except ValueError as error:
        session.add(document.place(("order",)), str(error))
        return None
