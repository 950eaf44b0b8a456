"""What the commands print for a person: plain text, one function per command."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from autotune.domain.calibration import Calibration
from autotune.domain.machine import OVERLAP_RULES, CacheLevel, Machine
from autotune.domain.ranking import Ranked, Ranking
from autotune.domain.results import Measurement, Part
from autotune.measuring.candidates.host_measurer import KernelSeconds
from autotune.measuring.host.detect import DetectionReason
from autotune.measuring.host.doctor import Prerequisite
from autotune.results.machines import text as machines_text
from autotune.units import show
from autotune.workloads.generated.candidate_space import EnumeratedSpace


def columns(rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """Rows as aligned columns, two blanks between; columns in ``right`` are right-aligned.

    The last column is not padded, so that long text wraps where the terminal wraps it.
    """
    table = [list(row) for row in rows]
    if not table:
        return ""
    widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
    flush = set(right)
    lines = []
    for row in table:
        cells = [
            cell.rjust(width) if k in flush else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def seconds(value: float | None) -> str:
    """A time with its unit, or a dash."""
    return "-" if value is None else show(value, "time")


def doctor(findings: Sequence[Prerequisite]) -> str:
    """What is installed, what is missing, and how to install it."""
    rows = [(f.state, f.name, f.found or "-", f.needed_for) for f in findings]
    lines = [columns(rows)]
    for finding in findings:
        if finding.state != "ok" and finding.install:
            lines.append(f"{finding.state}, {finding.name}: {finding.install}")
    if all(finding.state != "missing" for finding in findings):
        lines.append("everything that is needed is there")
    return "\n".join(lines)


def variants(enumerated: EnumeratedSpace, *, illegal: bool) -> str:
    """The candidates, then what was left out, if asked for."""
    lines = [candidate.id for candidate in enumerated.legal]
    lines.append(f"{len(enumerated.legal)} candidates, {len(enumerated.illegal)} illegal")
    if illegal:
        lines.append(columns([(label, why) for label, _, why in enumerated.illegal]))
    return "\n".join(lines)


def rankings(
    found: Sequence[Ranking], machine: Machine, *, top: int, enumerated: EnumeratedSpace
) -> str:
    """The best of each problem with a reason each; ``top`` rows, all for 0.

    What is illegal is counted: a way to communicate may be missing for a problem.
    """
    illegal = Counter(problem.key for _, problem, _ in enumerated.illegal)
    blocks = []
    for ranking in found:
        entries = ranking.entries[: top or None]
        builds = {(e.candidate.build.compiler, e.candidate.build.flags) for e in ranking.entries}
        rows = [("", "predicted", "interval", "candidate", "reason")]
        rows += [
            (
                "-" if e.rank is None else f"{e.rank}{'~' if e.undecided else ' '}",
                seconds(e.prediction.seconds),
                _interval(e.prediction.interval),
                e.candidate.id + (f" ({_build(e)})" if len(builds) > 1 else ""),
                e.prediction.reason,
            )
            for e in entries
        ]
        head = (
            f"{ranking.problem.label}: {len(ranking.entries)} candidates on {machine.name},"
            f" time per step predicted by engine {ranking.engine}"
        )
        if illegal[ranking.problem.key]:
            head += f" ({illegal[ranking.problem.key]} illegal ones: autotune variants --illegal)"
        left = len(ranking.entries) - len(entries)
        tail = f"\n... and {left} more (--top 0 shows all)" if left else ""
        close = sum(e.undecided for e in ranking.entries)
        if close > 1:
            tail += f"\n~ not told apart from the first: {close - 1} of the others"
        blocks.append(f"{head}\n{columns(rows, right=(0, 1))}{tail}")
    return "\n\n".join(blocks)


def predictions(found: Sequence[Ranking]) -> str:
    """Every candidate with its time and its parts by kind."""
    blocks = []
    for ranking in found:
        kinds = sorted({p.kind for e in ranking.entries for p in e.prediction.parts})
        rows = [("candidate", "predicted", "interval", *kinds)]
        for entry in ranking.entries:
            sums = _by_kind(entry.prediction.parts)
            rows.append(
                (
                    entry.candidate.id,
                    seconds(entry.prediction.seconds),
                    _interval(entry.prediction.interval),
                    *(seconds(sums.get(kind)) for kind in kinds),
                )
            )
        head = f"{ranking.problem.label}, engine {ranking.engine}"
        blocks.append(f"{head}\n{columns(rows, right=range(3, 3 + len(kinds)))}")
    return "\n\n".join(blocks)


def measured(
    ranked: Ranked,
    measurement: Measurement,
    location: tuple[float, tuple[float, float] | None] | None,
    phases: KernelSeconds | None,
) -> str:
    """One candidate, predicted and measured, and its phases."""
    lines = [
        ranked.candidate.id,
        f"status     {measurement.status}",
        f"predicted  {seconds(ranked.prediction.seconds)} per step",
    ]
    if location:
        lines.append(f"measured   {seconds(location[0])} per step {_interval(location[1])}")
        taken = len(measurement.accepted)
        rejected = sum(not s.accepted and not s.warm_up for s in measurement.samples)
        lines.append(f"samples    {taken} accepted, {rejected} rejected as contended")
    if measurement.error is not None:
        lines.append(f"verified   deviation {measurement.error:.1e} of the reference")
    if measurement.detail:
        lines.append(measurement.detail)
    if phases and phases.seconds:
        total = sum(phases.seconds.values())
        rows = [
            (name, seconds(value), f"{100 * value / total:.0f} %")
            for name, value in phases.seconds.items()
        ]
        lines += ["phases, per step, in an instrumented run of its own:"]
        lines.append(columns(rows, right=(1, 2)))
    elif phases:
        lines.append(f"phases: {phases.status}: {phases.detail}")
    return "\n".join(lines)


def machines(found: Sequence[Machine]) -> str:
    """The machine files, a line each."""
    return columns(
        (m.name, f"{m.cores} cores", show(m.clock, "frequency"), _in_core(m), m.title)
        for m in found
    )


def _in_core(machine: Machine) -> str:
    """How in-core times are found on a machine: ``osaca:ZEN3``, ``ports`` or ``none``."""
    if machine.in_core.osaca:
        nearest = " (nearest)" if machine.in_core.approximate else ""
        return f"osaca:{machine.in_core.osaca}{nearest}"
    return "ports" if machine.in_core.ports else "none"


def machine(found: Machine) -> str:
    """One machine with the source of each figure, and its calibration; ``?`` marks figures that
    were never checked."""
    doubt = _doubt(found)
    lines = [
        f"{found.name}: {found.title}",
        f"  {found.architecture}, {found.cores} cores{doubt('cores')}, {found.sockets} socket(s),"
        f" clock {show(found.clock, 'frequency')}{doubt('clock')}, in-core {_in_core(found)}",
        f"  overlap {found.overlap.rule}{doubt('overlap.rule')}:"
        f" {OVERLAP_RULES[found.overlap.rule]}",
    ]
    lines += [_cache(found, cache) for cache in found.caches]
    if found.overlap.store_path:
        path = found.overlap.store_path
        lines.append(
            f"  stores through the innermost cache: {path.throughput:g} B/cy"
            f"{doubt('overlap.store_path.throughput')}, path shared by {path.cores}"
        )
    memory = found.memory
    for label, key, value in (
        ("all cores of a domain", "saturated", memory.saturated),
        ("one core", "single", memory.single),
        *((name, f"benchmarks.{name}.saturated", b.saturated)
          for name, b in memory.benchmarks.items()),
    ):  # fmt: skip
        if value:
            figure = show(value, "bandwidth")
            lines.append(f"  memory, {label}: {figure}{doubt(f'memory.{key}')}")
    if found.network:
        curves = ", ".join(
            f"{c.operation} {c.ranks} ranks/{c.nodes} nodes ({c.benchmark})"
            for c in found.network.curves
        )
        lines.append(f"  network {found.network.title}: {curves}")
    if found.calibration:
        lines += _calibration(found.calibration)
    lines += [f"  source of {key}: {source}" for key, source in sorted(found.sources.items())]
    return "\n".join(lines)


def _doubt(found: Machine) -> Callable[[str], str]:
    """The mark behind a figure: ``?`` where its source says that it was never checked."""
    return lambda key: "?" if key in found.unverified else ""


def _cache(found: Machine, cache: CacheLevel) -> str:
    doubt, key = _doubt(found), f"caches.{cache.name}"
    text = (
        f"  {cache.name}  {show(cache.size, 'size')}{doubt(f'{key}.size')}, {cache.ways}"
        f"{doubt(f'{key}.ways')} ways, shared by {cache.cores}{doubt(f'{key}.cores')}"
    )
    for way in ("inbound", "outbound"):
        value = getattr(cache, way)
        if value:
            text += f", {value:g}{doubt(f'{key}.{way}')} B/cy {way}"
    kinds = {
        "victim": cache.victim,
        "write-through": not cache.write_back,
        "no write-allocate": not cache.write_allocate,
    }
    text += "".join(f", {name}" for name, holds in kinds.items() if holds)
    return f"{text}, exposed {found.exposed(cache.name):.2f}{doubt(f'{key}.exposed')}"


def _calibration(found: Calibration) -> list[str]:
    lines = [
        f"calibrated {found.taken} in {found.seconds:.0f} s, priority {found.priority}"
        + (", CONTENDED: other processes ran; calibrate again" if found.contended else ""),
        f"  clock {show(found.clock, 'frequency')} (spread {found.clock_spread:.1%})",
    ]
    lines += machines_text.constants(found)
    for title, rows in machines_text.bandwidths(found):
        table = columns(rows, right=range(len(rows[0])))
        lines += [f"  {title}:", *(f"    {line}" for line in table.splitlines())]
    return lines


def machine_check(found: Machine, gaps: Sequence[str]) -> str:
    """A valid machine file, and what it lacks for which use."""
    if not gaps:
        return f"{found.name}: valid, complete for every use"
    return "\n".join([f"{found.name}: valid; missing:", *(f"  {gap}" for gap in gaps)])


def machine_detected(found: Machine, reasons: Sequence[DetectionReason]) -> str:
    """This host, and why it is described so."""
    return "\n".join([machine(found), "decided:", *(f"  {reason}" for reason in reasons)])


def _build(entry: Ranked) -> str:
    build = entry.candidate.build
    return " ".join((build.compiler, *build.flags))


def _by_kind(parts: Sequence[Part]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for part in parts:
        sums[part.kind] = sums.get(part.kind, 0.0) + part.seconds
    return sums


def _interval(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"[{seconds(interval[0])}, {seconds(interval[1])}]"
