"""Turns right-hand sides into sweeps: one for each band of regions that share their bounds.

The regions of a problem separate its boundaries from the long loop. Regions with the same bounds
and with columns form one band: a sweep that runs over the rows of the band, plane by plane where
a region of it names rows. The body of each remaining loop is free of branches.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import lcm

from autotune.codegen.tree.loop_tree import (
    Assign,
    Local,
    PlaneRows,
    Statement,
    StoredRow,
    SumLoop,
    Sweep,
    SweepStretch,
)
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.problem import Ivp, Region
from autotune.language.expression import (
    Bin,
    Expr,
    Num,
    Ref,
    Sym,
    number,
    rebuild,
    references,
    substitute,
    symbols,
)

_LINE = 8
"""Doubles in a cache line."""
_SAMPLES = 3
"""Number of sizes at which the bounds of regions with short rows are checked."""


def granule(ivp: Ivp) -> int:
    """The number of components that blocks and tiles are multiples of: whole cache lines and short
    rows.
    """
    match ivp.row:
        case Num(value=int() as row) if row > 0:
            return lcm(_LINE, row)
    return _LINE


def evaluation(
    ivp: Ivp, kernel: str, target: StoredRow, argument: StoredRow, time: Expr
) -> list[Sweep]:
    """The sweeps that compute ``target = f(time, argument)``, one per band, ordered by
    lower bound.
    """
    name = "f_" + _identifier(ivp.name)
    return _sweeps(ivp, ivp.regions, name, kernel, target, argument, time)


@dataclass(frozen=True, slots=True)
class PointEvaluation:
    """``target = f(time, argument)`` at one point, where the target is a scalar."""

    target: str
    argument: str
    """The name of the row parameter."""
    suffix: str
    """What the names of time and locals have here."""
    time: Expr


def fused(
    ivp: Ivp,
    name: str,
    kernel: str,
    evaluations: Sequence[PointEvaluation],
    following: tuple[Statement, ...],
    parameters: tuple[tuple[tuple[str, StoredRow], ...], Mapping[str, Expr]],
) -> list[Sweep]:
    """The sweeps that evaluate right-hand sides and use the results at the same point, one per
    band.

    ``following``: the statements that use the scalars. ``parameters``: the rows and the scalars of
    these.
    """
    rows, scalars = parameters
    sweeps = []
    for index, band in enumerate(_bands(ivp, ivp.regions)):
        stretches = tuple(
            replace(
                stretch,
                statements=(
                    *(s for e in evaluations for s in _at_point(stretch, e)),
                    *following,
                ),
            )
            for stretch in _stretches(ivp, band, "")
        )
        used = _names(stretches)
        read = {ref.array for t in stretches for s in t.statements for ref in references(s.value)}
        written = {s.target for s in following if isinstance(s, Assign)}
        times = {f"t{e.suffix}": e.time for e in evaluations if f"t{e.suffix}" in used}
        sweeps.append(
            Sweep(
                name=f"{name}_{_identifier(ivp.name)}_{index}",
                kernel=kernel,
                rows=tuple((n, row) for n, row in rows if n in read | written),
                tables=_tables(ivp, stretches),
                scalars=(*times.items(), *((n, e) for n, e in scalars.items() if n in used)),
                stretches=stretches,
                constants=tuple((n, e) for n, e in ivp.constants.items() if n in used),
            )
        )
    return sweeps


def _at_point(stretch: SweepStretch, evaluation: PointEvaluation) -> Iterator[Statement]:
    """The statements of a stretch with other names of argument, time and locals."""
    names: dict[str, Expr] = {"t": Sym(f"t{evaluation.suffix}")}

    def argument(expr: Expr) -> Expr:
        state = isinstance(expr, Ref) and expr.array == "y"
        return Ref(evaluation.argument, expr.indices) if state and isinstance(expr, Ref) else expr

    for statement in stretch.statements:
        value = substitute(rebuild(statement.value, argument), names)
        if isinstance(statement, SumLoop):
            names[statement.name] = Sym(f"{statement.name}{evaluation.suffix}")
            name = f"{statement.name}{evaluation.suffix}"
            yield replace(statement, name=name, value=value)
        elif isinstance(statement, Local):
            names[statement.name] = Sym(f"{statement.name}{evaluation.suffix}")
            yield Local(f"{statement.name}{evaluation.suffix}", value)
        else:
            yield Local(evaluation.target, value)


def initial(ivp: Ivp, target: StoredRow) -> list[Sweep]:
    """The sweeps that set the initial values, one per band."""
    name = "initial_" + _identifier(ivp.name)
    return _sweeps(ivp, ivp.initial, name, "initial", target, None, Num(ivp.start))


def _sweeps(
    ivp: Ivp,
    regions: tuple[Region, ...],
    name: str,
    kernel: str,
    target: StoredRow,
    argument: StoredRow | None,
    time: Expr,
) -> list[Sweep]:
    written = target.array
    taken = {*ivp.constants, *ivp.locals, *ivp.sums, *ivp.indices, *(("y",) if argument else ())}
    while written in taken:
        written += "_"
    sweeps = []
    for index, band in enumerate(_bands(ivp, regions)):
        stretches = _stretches(ivp, band, written)
        used = _names(stretches)
        rows = [(written, target)]
        if argument is not None and any(_reads(ivp, r.body) for r in band):
            rows.append(("y", argument))
        sweeps.append(
            Sweep(
                name=f"{name}_{index}",
                kernel=kernel,
                rows=tuple(rows),
                tables=_tables(ivp, stretches),
                scalars=(("t", time),) if "t" in used else (),
                stretches=stretches,
                constants=tuple((n, e) for n, e in ivp.constants.items() if n in used),
            )
        )
    return sweeps


def _tables(ivp: Ivp, stretches: tuple[SweepStretch, ...]) -> tuple[str, ...]:
    """The index arrays that some stretches use."""
    refs = (ref for t in stretches for s in t.statements for ref in references(s.value))
    used = {ref.array for ref in refs} if ivp.indices else set()
    return tuple(name for name in ivp.indices if name in used)


def _reads(ivp: Ivp, body: Expr) -> bool:
    """Whether a body reads y, around the component, in a sum or through an index array."""
    return bool(ivp.reads(body) or ivp.gathers(body)) or any(
        s.elements() for s in ivp.used_sums(body).values()
    )


def _bands(ivp: Ivp, regions: tuple[Region, ...]) -> list[list[Region]]:
    """The regions grouped into bands of equal bounds, sorted by row and column; bands are ordered
    by lower bound.
    """
    values = ivp.values(max(ivp.minimum, 5))
    bands: dict[tuple[Expr, Expr, bool], list[Region]] = {}
    for region in regions:
        inside = region.columns is not None or region.rows is not None
        bands.setdefault((region.lower, region.upper, inside), []).append(region)

    def place(region: Region) -> tuple[float, float]:
        row = number(region.rows[0], values) if region.rows else 0
        return row, number(region.columns[0], values) if region.columns else 0

    for (_, _, inside), band in bands.items():
        band.sort(key=place)
        if inside and isinstance(ivp.row, Num):
            _check_short_rows(ivp, band, int(ivp.row.value))
    return sorted(bands.values(), key=lambda band: number(band[0].lower, values))


def _check_short_rows(ivp: Ivp, band: list[Region], row: int) -> None:
    """Raise unless a band with rows of fixed length holds whole rows, since these are
    written out.
    """
    first = max(ivp.minimum, 5)
    for size in range(first, first + _SAMPLES):
        values = ivp.values(size)
        covered: dict[tuple[Expr, Expr] | None, list[int]] = {}
        for region in band:
            columns = region.columns or (Num(0), Num(row))
            covered.setdefault(region.rows, []).extend(
                range(*(int(number(e, values)) for e in columns))
            )
        bounds = [int(number(e, values)) for e in (band[0].lower, band[0].upper)]
        whole = all(sorted(columns) == list(range(row)) for columns in covered.values())
        if any(bound % row for bound in bounds) or not whole:
            raise IllegalTransformation(
                f"regions {', '.join(map(str, band))}: bounds must be multiples of the row length"
                f" {row}, and columns must cover the row"
            )


def _stretches(ivp: Ivp, band: Sequence[Region], written: str) -> tuple[SweepStretch, ...]:
    planes = any(region.rows is not None for region in band)
    return tuple(_stretch(ivp, region, written, planes) for region in band)


def _stretch(ivp: Ivp, region: Region, written: str, planes: bool) -> SweepStretch:
    statements: list[Statement] = []
    used = symbols(region.body)
    for name, total in ivp.used_sums(region.body).items():
        statements.append(SumLoop(name, total.index, total.lower, total.upper, total.body))
        used |= symbols(total.body)
    for local, value in reversed(tuple(ivp.locals.items())):
        if local in used:
            statements.insert(0, Local(local, value))
            used |= symbols(value)
    columns, rows = region.columns, None
    if planes:
        assert ivp.row is not None
        assert ivp.plane is not None
        columns = columns or (Num(0), ivp.row)
        first, end = region.rows or (Num(0), Bin("//", ivp.plane, ivp.row))
        rows = PlaneRows(first, end, ivp.plane)
    return SweepStretch(
        lower=region.lower,
        upper=region.upper,
        statements=(*statements, Assign(written, region.body)),
        columns=columns,
        row=ivp.row if columns else None,
        planes=rows,
    )


def _names(stretches: tuple[SweepStretch, ...]) -> frozenset[str]:
    names: frozenset[str] = frozenset()
    for stretch in stretches:
        exprs = [stretch.lower, stretch.upper, *(stretch.columns or ())]
        exprs += [stretch.row] if stretch.row is not None else []
        if stretch.planes is not None:
            exprs += [stretch.planes.first, stretch.planes.end, stretch.planes.size]
        exprs += [statement.value for statement in stretch.statements]
        for statement in stretch.statements:
            exprs += [statement.lower, statement.upper] if isinstance(statement, SumLoop) else []
        names = names.union(*(symbols(e) for e in exprs))
    return names


def _identifier(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name)
