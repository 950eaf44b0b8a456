"""Made-up entries for the writers of headers and wisdom files."""

from collections.abc import Mapping, Sequence

from autotune.domain.variant import Build, ExecutionLayout, Value
from autotune.results.export.entries import (
    Choices,
    EntryMachine,
    EntryOrigin,
    ExportEntry,
    ExportSection,
    ExportSubject,
    SectionKey,
    sections,
)

ORIGIN = EntryOrigin(
    study="tuned",
    run="20261121T030000-1a2b3c4d",
    taken="2026-11-21T03:00:00+00:00",
    compiler="gcc 12.2.0",
    flags="-O3 -march=znver3",
)


def key(name: str = "heat2d", machine: str = "abc123", ranks: int = 1, **fields: str) -> SectionKey:
    subject = {"id": f"{name} radau", "definition": "0123456789ab", "family": "ivp", **fields}
    return SectionKey(
        place=EntryMachine(identity=machine, name="host", title="AMD EPYC 9R14, 2 cores"),
        subject=ExportSubject(name=name, size="n, the number of components", **subject),
        ranks=ranks,
    )


def entry(size: int, threads: int, **fields: object) -> ExportEntry:
    values: dict[str, object] = {
        "size": size,
        "problem": f"heat2d-N{size}",
        "candidate": f"c{size}t{threads}",
        "variant": "jli",
        "parameters": {"order": "jli", "tile": 64, "au": True},
        "build": Build(compiler="gcc", flags=("-O3", "-march=native")),
        "layout": ExecutionLayout(threads=threads),
        "seconds": 1e-9 * size / threads,
        "interval": (0.9e-9 * size / threads, 1.2e-9 * size / threads),
        "samples": 15,
        "verified": True,
        "error": 3e-16,
        "origin": ORIGIN,
    }
    return ExportEntry(**(values | fields))


def choices(
    found: Sequence[tuple[SectionKey, ExportEntry]],
    domains: Mapping[str, tuple[Value, ...]] | None = None,
    study: str = "tuned",
) -> Choices:
    made: tuple[ExportSection, ...]
    made, notes = sections(found, {k.identity: domains or {} for k, _ in found})
    return Choices(study=study, sections=made, notes=tuple(notes))
