"""What ``autotune export`` prints."""

import shlex

from autotune.commands.export.document import ExportDocument
from autotune.results.export.entries import ExportEntry, ExportSubject
from autotune.tuning.maps.explore import LEVEL
from autotune.units import counted


def text(exported: ExportDocument) -> str:
    """A line for each choice of a header or wisdom file; for a table, its number of rows."""
    if exported.choices is None:
        return f"{counted(exported.rows, 'candidate')} of study {exported.study}"
    lines = []
    for section in exported.choices.sections:
        key = section.key
        ranks = f", {key.ranks} ranks" if key.ranks > 1 else ""
        lines.append(f"{key.subject.id} on {key.place.title}{ranks}:")
        lines += [f"  {_line(entry, key.subject)}" for entry in section.entries]
    for skipped in exported.choices.skipped:
        threads = f", T{skipped.threads}" if skipped.threads else ""
        lines.append(f"no choice for {skipped.problem}{threads}: {skipped.reason}")
    if exported.format == "library":
        folder = shlex.quote(str(exported.file))
        lines.append(f"build and test it: sh {folder}/build.sh && {folder}/self_test")
        lines.append(f"its calls from C, Python and Fortran: {folder}/README.md")
    elif any(s.key.subject.source == "C source" for s in exported.choices.sections):
        lines.append(
            "the C source of a choice: autotune variants CONFIG --emit CANDIDATE -o FOLDER"
        )
    return "\n".join(lines)


def _line(entry: ExportEntry, subject: ExportSubject) -> str:
    """One choice: its problem, threads, candidate, time or value, and how sure the choice is."""
    value = entry.shown(subject)
    if entry.interval:
        value += f" ({entry.interval[0]:.4g} to {entry.interval[1]:.4g})"
    line = f"{entry.problem}, T{entry.threads}: {entry.candidate.partition(':')[0]}" + (
        value and f", {value}"
    )
    if not entry.verified:
        line += ", not verified" if entry.error is not None else ", not checked"
    if entry.loss_bound is not None:
        line += f", loses less than {entry.loss_bound:.1%} with {LEVEL:.0%}"
    if entry.ties:
        line += f"; noise does not tell it from {counted(len(entry.ties), 'other')}"
    return line
