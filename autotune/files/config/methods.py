"""Reads Butcher tableaux from YAML (schema autotune.method/1)."""

from pathlib import Path

from autotune.domain.problem import ROW_SUM_TOLERANCE, ButcherTableau
from autotune.files.config.facts import draft, settle
from autotune.files.config.session import Session

SCHEMA = "autotune.method/1"


def read_method(session: Session, path: Path) -> ButcherTableau | None:
    """The Butcher tableau in a file; None with faults noted where it cannot be read."""
    faults_before = len(session.faults)
    document = session.open(path, SCHEMA)
    stated = draft(session, document, ButcherTableau, name=path.stem) if document else None
    if document is None or stated is None:
        return None
    s = stated.stages
    if len(stated.c) != s:
        session.add(document.place(("c",)), f"c has {len(stated.c)} elements", f"{s}, as b has")
    if len(stated.A) != s:
        found = f"A has {len(stated.A)} rows"
        session.add(document.place(("A",)), found, f"{s}, as b has elements")
    for i, row in enumerate(stated.A):
        place = document.place(("A", i))
        if len(row) != s:
            found = f"row {i + 1} of A has {len(row)} elements"
            session.add(place, found, f"{s}, as b has")
        elif i < len(stated.c) and abs(sum(row) - stated.c[i]) > ROW_SUM_TOLERANCE:
            found = f"row {i + 1} of A sums to {sum(row)!r}"
            expected = f"c[{i + 1}] = {stated.c[i]!r}: row sums of A must equal c"
            session.add(place, found, expected)
    if len(session.faults) > faults_before:
        return None
    return settle(session, document, stated, at=("order",))
