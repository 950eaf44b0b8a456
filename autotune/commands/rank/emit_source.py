"""The source of one candidate in files: its C text, or the commands of a program."""

import re
from pathlib import Path

from autotune import paths
from autotune.commands.rank.ranked_space import nearest_candidate, unlisted_hint
from autotune.domain.candidate_names import matching
from autotune.domain.variant import Candidate
from autotune.errors import Fault, InputError
from autotune.measuring.candidates.protocol import time_arguments
from autotune.results.report import usage
from autotune.workloads.base import EnumeratedSpace, Workload

_USUAL = re.compile(
    r"#|set -e|cd |export OMP_(?:NUM_THREADS|PLACES|PROC_BIND|WAIT_POLICY|DYNAMIC)="
)
"""Lines of a script that say nothing about a candidate."""


def command_lines(workload: Workload, candidate: Candidate) -> tuple[str, ...]:
    """The command lines that build and run a program; none for generated code."""
    texts = workload.sources(candidate, Path())
    scripts = [text for name, text in texts.items() if name.endswith(".sh")]
    lines = [line for text in scripts for line in text.splitlines()]
    return tuple(line for line in lines if line and not _USUAL.match(line))


def emit_sources(
    workload: Workload, enumerated: EnumeratedSpace, name: str, folder: Path
) -> list[str]:
    """Write the source of a candidate into a folder; returns what was written, and how C is built
    and started.
    """
    candidate = _find(enumerated, name)
    texts = workload.sources(candidate, folder)
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file_name, text in texts.items():
            path = folder / file_name
            paths.check_output(path)
            path.write_text(text, encoding="utf-8")
            written.append(path)
    except OSError as error:
        found = f"cannot be written: {error.strerror or error}"
        raise InputError(Fault(where=str(folder), found=found)) from error
    notes = [f"wrote {path}" for path in written]
    if "main.c" in texts:
        build, layout = candidate.build, candidate.layout
        arguments = " ".join(time_arguments(candidate, workload.setup.measuring))
        notes.append(f"build: {usage.build_line(build, layout, str(folder))}")
        notes.append(f"start as tune does: {usage.environment(layout)} ./a.out {arguments}")
    return notes


def _find(enumerated: EnumeratedSpace, name: str) -> Candidate:
    named = matching(enumerated.legal, name)
    if len(named) == 1:
        return named[0]
    found = f"{name!r} names {len(named)} candidates" if named else f"unknown {name!r}"
    ids = [c.id for c in enumerated.legal]
    raise InputError(
        Fault(
            where="--emit",
            found=found,
            expected="an id, an identity or a label, as variants prints them",
            hint=", ".join(c.id for c in named[:3])
            or unlisted_hint(enumerated)
            or nearest_candidate(name, ids),
        )
    )
