"""Reads stencils from YAML (schema autotune.stencil/1)."""

import math
import sys
from collections.abc import Mapping
from itertools import product
from pathlib import Path

from autotune.domain.stencil import SOURCE, TARGET, Stencil, bare_symbols, check_dimension, offsets
from autotune.errors import nearest, one_of
from autotune.files.config.facts import draft, settle
from autotune.files.config.session import Session
from autotune.files.parsing.yaml_document import Document, Keys
from autotune.language.expression import Expr, Ref, number, references, show, symbols

SCHEMA = "autotune.stencil/1"

LARGEST_RADIUS = 16
"""Ghost layers on a side: farther reads are taken for a slip of the pen."""
_SMALL = 5
"""Points per dimension at least where expressions are tried."""


def read_stencil(session: Session, path: Path) -> Stencil | None:
    """The stencil in a file; None with faults noted where it cannot be read."""
    faults_before = len(session.faults)
    document = session.open(path, SCHEMA)
    stated = draft(session, document, Stencil, name=path.stem) if document else None
    if document is None or stated is None:
        return None
    check = _Check(session, document, stated)
    check.dimensions()
    if len(session.faults) == faults_before:
        check.names()
        check.body()
    if len(session.faults) > faults_before:
        return None
    stencil = settle(session, document, stated, at=("body",))
    if stencil is None:
        return None
    check.values(stencil)
    return stencil if len(session.faults) == faults_before else None


class _Check:
    """Finds the faults of one stencil, each at its place."""

    def __init__(self, session: Session, document: Document, stencil: Stencil) -> None:
        self.session = session
        self.document = document
        self.stencil = stencil
        self.points = set(stencil.dimensions)
        self.extents = {name.upper() for name in stencil.dimensions}

    def add(self, keys: Keys, found: str, expected: str = "", hint: str = "") -> None:
        self.session.add(self.document.place(keys), found, expected, hint)

    def dimensions(self) -> None:
        names = self.stencil.dimensions
        for i, name in enumerate(names):
            try:
                check_dimension(name)
            except ValueError as error:
                self.add(("dimensions", i), str(error))
            if name in names[:i]:
                self.add(("dimensions", i), f"the dimension {name!r} is here again", "each once")

    def names(self) -> None:
        """Check that every symbol is known where it is used, and that only the body
        reads elements.
        """
        scalars = set(self.extents)
        for name, expr in self.stencil.constants.items():
            self._new(("constants", name), scalars)
            self._scalar(("constants", name), expr, scalars)
            scalars = scalars | {name}
        for name, expr in self.stencil.coefficients.items():
            self._new(("coefficients", name), scalars)
            self._scalar(("coefficients", name), expr, scalars | self.points)
        self._scalar(("initial",), self.stencil.initial, scalars | self.points)

    def _new(self, keys: Keys, names: set[str]) -> None:
        name = str(keys[-1])
        where = self.document.key(keys)
        if not name.isidentifier():
            self.session.add(where, f"{name!r} is not a name", "letters and digits")
        elif name in names | self.points | {SOURCE, TARGET}:
            self.session.add(where, f"the name {name!r} is taken", "a name of its own")

    def _scalar(self, keys: Keys, expr: Expr, names: set[str]) -> None:
        for name in sorted(symbols(expr) - names):
            self._unknown(keys, name, names)
        for ref in references(expr):
            self.add(keys, f"{show(ref)} is an array element", "a term that reads no element")

    def _unknown(self, keys: Keys, name: str, names: set[str]) -> None:
        self.add(keys, f"unknown name {name!r}", one_of(sorted(names)), nearest(name, names))

    def body(self) -> None:
        """Check that the body reads u and coefficients at whole offsets from the point, and not
        what it writes.
        """
        body, keys = self.stencil.body, ("body",)
        arrays = {SOURCE, *self.stencil.coefficients}
        form = f"{SOURCE}{''.join(f'[{name}+number]' for name in self.stencil.dimensions)}"
        scalars = self.extents | set(self.stencil.constants)
        for name in sorted(bare_symbols(body) - scalars):
            if name in arrays | self.points:
                self.add(
                    keys, f"{name!r} alone is no value of a point", f"an element such as {form}"
                )
            else:
                self._unknown(keys, name, scalars)
        for ref in dict.fromkeys(references(body)):
            if ref.array == TARGET:
                found = f"{show(ref)} is the target of the sweep: it must not be read"
                self.add(keys, found, f"elements of {', '.join(sorted(arrays))}")
            elif ref.array not in arrays:
                hint = nearest(ref.array, arrays)
                self.add(keys, f"unknown array {ref.array!r}", one_of(sorted(arrays)), hint)
            else:
                self._offsets(keys, ref)

    def _offsets(self, keys: Keys, ref: Ref) -> None:
        for index in ref.indices:
            for name in sorted(symbols(index) - self.points):
                hint = nearest(name, self.points)
                found = f"{show(ref)}: unknown dimension {name!r}"
                self.add(keys, found, one_of(sorted(self.points)), hint)
                return
        try:
            steps = offsets(ref, self.stencil.dimensions)
        except ValueError as error:
            self.add(keys, str(error))
            return
        if max(map(abs, steps)) > LARGEST_RADIUS:
            self.add(keys, f"{show(ref)} reads too far", f"at most {LARGEST_RADIUS} points away")

    def values(self, stencil: Stencil) -> None:
        """Check the values of constants, coefficients and initial values at the corners of a small
        grid.
        """
        extents = tuple(max(_SMALL, stencil.minimum) + n for n in range(len(stencil.dimensions)))
        keys: Keys = ("constants",)
        where = " x ".join(map(str, extents))
        try:
            values: dict[str, float | int] = {}
            values.update(zip(stencil.extent_names, extents, strict=True))
            for name, expr in stencil.constants.items():
                keys = ("constants", name)
                values[name] = number(expr, values)
                _sound(values[name])
            ends = [(-stencil.radius, extent // 2, extent + stencil.radius - 1)
                    for extent in extents]  # fmt: skip
            for point in product(*ends):
                here = {**values, **dict(zip(stencil.dimensions, point, strict=True))}
                for name, expr in stencil.coefficients.items():
                    keys = ("coefficients", name)
                    _evaluate(expr, here, point)
                keys = ("initial",)
                _evaluate(stencil.initial, here, point)
        except ValueError as error:
            self.add(keys, f"on a grid of {where}: {error}")


def _evaluate(expr: Expr, values: Mapping[str, float | int], point: tuple[int, ...]) -> None:
    try:
        _sound(number(expr, values))
    except ValueError as error:
        raise ValueError(f"at {point}: {error}") from error


def _sound(value: float) -> None:
    if not math.isfinite(value):
        raise ValueError(f"the value is {value}")
    if value != 0 and abs(value) < sys.float_info.min:
        raise ValueError(f"the value {value!r} is denormal")
