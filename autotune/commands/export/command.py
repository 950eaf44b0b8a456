"""``autotune export``: the choice for the application, the results for other tools."""

from typing import TYPE_CHECKING

import typer

from autotune.commands.export.options import ExportRequest
from autotune.commands.options import DEFAULT_STORE, Json, Store, command, command_options
from autotune.commands.output import TerminalProgress, document, note

if TYPE_CHECKING:
    from autotune.commands.export.document import ExportDocument
    from autotune.results.export.entries import ExportEntry

EPILOG = (
    "Example: autotune export quickstart --format header -o quickstart.h;"
    " autotune export --format wisdom -o app.wisdom.json --with-reader src/;"
    " autotune export quickstart --format csv | t4 | parquet"
)


@command_options
class ExportOptions:
    """Options of ``autotune export``, in the order of its help."""

    file: ExportRequest
    store: Store = DEFAULT_STORE
    json: Json = False


@command
def export(options: ExportOptions) -> None:
    """What was chosen for the application (header, wisdom); results for tools (t4, csv, parquet).

    The choice at a number of threads is the fastest verified candidate; which others noise does not
    tell from it is stated. Sizes between those tuned get the nearest one: the files state the rule.
    """
    from autotune.commands.export import flow

    done = flow.export(options.file, options.store, TerminalProgress())
    if options.json:
        document(done)
    else:
        typer.echo(_text(done))
    for line in (*done.notes, *done.replaced):
        note(line)
    for path in (done.file, *done.readers):
        note(f"wrote {path}")


def _text(done: "ExportDocument") -> str:
    """What was chosen, a line each; of a table how many rows it has."""
    if done.choices is None:
        return f"{done.rows} candidates of study {done.study}"
    lines = []
    for section in done.choices.sections:
        key = section.key
        ranks = f", {key.ranks} ranks" if key.ranks > 1 else ""
        lines.append(f"{key.subject.id} on {key.place.title}{ranks}:")
        lines += [f"  {_line(entry, key.subject.per)}" for entry in section.entries]
    for one in done.choices.skipped:
        threads = f", T{one.threads}" if one.threads else ""
        lines.append(f"no choice for {one.problem}{threads}: {one.reason}")
    if any(section.key.subject.source == "C source" for section in done.choices.sections):
        lines.append(
            "the C source of a choice: autotune variants CONFIG --emit CANDIDATE -o FOLDER"
        )
    return "\n".join(lines)


def _line(entry: "ExportEntry", per: str) -> str:
    from autotune.tuning.maps.explore import LEVEL

    time = "" if entry.seconds is None else f", {entry.seconds:.4g} s per {per}"
    if entry.interval:
        time += f" ({entry.interval[0]:.4g} to {entry.interval[1]:.4g})"
    told = f"{entry.problem}, T{entry.threads}: {entry.candidate}{time}"
    if not entry.verified:
        told += ", not verified"
    if entry.loss_bound is not None:
        told += f", loses less than {entry.loss_bound:.1%} with {LEVEL:.0%}"
    if entry.ties:
        count = len(entry.ties)
        told += f"; noise does not tell it from {count} other{'s' if count > 1 else ''}"
    return told
