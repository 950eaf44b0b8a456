"""``autotune learn compare``: models against one another, and against an analytical one."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from autotune.cli.learn_options import (
    Analytical,
    Categorical,
    Format,
    FormatName,
    Model,
    Response,
    Without,
    columns,
)
from autotune.cli.options import Json, share
from autotune.cli.output import TerminalProgress, document, note

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autotune.formulas.base import Formula
    from autotune.learn.base import Bools
    from autotune.learn.curves import CurveTable
    from autotune.learn.readers import Columns
    from autotune.learn.table import Table

EXAMPLE = (
    "Example: autotune learn compare runs.csv --models pool,influence --sizes 16,32,64;"
    " autotune learn compare runs.csv --formula smg2000-1d"
    " --constant alpha=1e-6 --constant beta=1e-9 --constant f=1e-10 --convention kaltenecker"
)

Models = Annotated[
    str, typer.Option("--models", help="Between commas; by default the usual ones that apply.")
]
Sizes = Annotated[
    str, typer.Option("--sizes", help="Rows to learn from, between commas; doubling by default.")
]
Repeats = Annotated[int, typer.Option("--repeats", help="Splits of each size.", min=1)]
Seed = Annotated[int, typer.Option("--seed", help="The same splits for the same seed.", min=0)]
LeaveOut = Annotated[
    str,
    typer.Option(
        "--leave-out",
        metavar="PARAMETER",
        help="Score on each value of a parameter in turn, and never learn from it.",
    ),
]
Drawing = Annotated[
    Literal["random", "sobol", "d-optimal"],
    typer.Option("--design", help="How the rows to learn from are chosen."),
]
Top = Annotated[str, typer.Option("--top", help="The k of the top-k loss, between commas.")]
Level = Annotated[str, typer.Option("--confidence", help="The probability of all intervals.")]
Page = Annotated[
    Path | None, typer.Option("-o", "--output", help="Also write a page with the curves drawn.")
]


def compare(
    file: Annotated[Path, typer.Argument(help="Measurements, as autotune learn show reads them.")],
    models: Models = "",
    sizes: Sizes = "",
    repeats: Repeats = 5,
    seed: Seed = 0,
    leave_out: LeaveOut = "",
    design: Drawing = "random",
    top: Top = "1,3,10",
    confidence: Level = "90 %",
    convention: Annotated[
        Literal["textbook", "kaltenecker"],
        typer.Option("--convention", help="Of the distances; kaltenecker: as in his tables."),
    ] = "textbook",
    formula: Annotated[
        str | None,
        typer.Option("--formula", help="The analytical model: smg2000-1d, fmm, ... by name."),
    ] = None,
    constant: Annotated[
        list[str] | None,
        typer.Option("--constant", metavar="NAME=NUMBER", help="Of the formula; repeatable."),
    ] = None,
    count_constant: Annotated[
        bool,
        typer.Option("--count-constant", help="Syntactic score: constants are terms, too."),
    ] = False,
    by_part: Annotated[
        bool,
        typer.Option(
            "--by-part",
            help="Also a model for each part of the program (region, call path), summed; of parts"
            " that do not contain one another.",
        ),
    ] = False,
    model: Model = None,
    response: Response = None,
    without: Without = None,
    analytical: Analytical = None,
    categorical: Categorical = None,
    format: Format = None,  # noqa: A002
    output: Page = None,
    json: Json = False,
) -> None:
    """How well models predict rows that they have not seen, by how many they have.

    Learning curves over repeated, seeded splits; then, of the largest training set, the semantic
    measures against what was measured and against the analytical model, and the syntactic score of
    learned formulas. The analytical model is a column predicted_s, --analytical, or --formula.
    """
    from autotune.learn import comparison
    from autotune.learn.analytical import with_analytical
    from autotune.learn.models import DEFAULT
    from autotune.learn.splits import Course
    from autotune.learn.trials import Scoring
    from autotune.report import learned as text
    from autotune.report.documents import learned as documents

    if constant and formula is None:
        raise typer.BadParameter("needs --formula", param_hint="--constant")
    if formula is not None and analytical is not None:
        raise typer.BadParameter("does not go with --analytical", param_hint="--formula")
    scoring = Scoring(tops=numbers(top, "--top"), level=share(confidence, "--confidence"))
    known_models(listed(models))
    check_page(output)
    wanted = columns(without, analytical, categorical)
    table, parts = _read(file, model, response, format, wanted, by_part=by_part)
    made = formula_of(formula, constant or [])
    if made is not None:
        table = with_analytical(table, made)
    request = comparison.Request(
        course=Course(
            sizes=sizes_of(sizes, table, leave_out),
            repeats=repeats,
            seed=seed,
            leave_out=leave_out,
            drawing=design,
        ),
        scoring=scoring,
        convention=convention,
        formula=made,
        constant=count_constant,
    )
    names = listed(models) or comparison.default_models(table, made)
    entered = comparison.contenders(table, names)
    if by_part:
        entered += comparison.by_part(table, parts, listed(models) or (DEFAULT,))
    progress = TerminalProgress()
    found = comparison.compare(entered, request, progress)
    progress.close()
    told = text.comparison(found)
    if output is not None:
        write_page(found.curve, f"Models of {table.name}", told, output)
    if json:
        document(documents.comparison(found))
    else:
        typer.echo(told)
    leave_if_interrupted(found.curve)


def _read(
    file: Path,
    model: Path | None,
    response: str | None,
    format: "FormatName | None",  # noqa: A002
    wanted: "Columns",
    *,
    by_part: bool,
) -> "tuple[Table, Mapping[str, Table]]":
    """The one table of a file; ``by_part``: of the whole program, and those of its parts."""
    from autotune.errors import Fault, InputError
    from autotune.learn.parts import whole_and_parts
    from autotune.learn.readers import read, read_one
    from autotune.learn.table import Tables

    if not by_part:
        one = read_one(file, model=model, response=response, format=format, wanted=wanted)
        return one, {}
    found = read(file, model=model, response=response, format=format, wanted=wanted)
    if not isinstance(found, Tables):
        told, expected = "one response", "regions or call paths of one metric"
        raise InputError(Fault(where=str(file), found=told, expected=expected))
    return whole_and_parts(found)


# --- shared with evaluate and fit -----------------------------------------------------------


def formula_of(name: str | None, constants: "list[str]") -> "Formula | None":
    """The formula of this name with its constants; BadParameter for what is no NAME=NUMBER."""
    if name is None:
        return None
    from autotune.formulas.named import make

    values: dict[str, float] = {}
    for pair in constants:
        key, _, number = pair.partition("=")
        try:
            values[key.strip()] = float(number)
        except ValueError:
            raise typer.BadParameter(
                f"{pair!r} is not NAME=NUMBER", param_hint="--constant"
            ) from None
    return make(name, values)


class Some(NamedTuple):
    """Which rows may be scored on, and the problem of each."""

    eligible: "Bools"
    problems: tuple[str, ...]


def sizes_of(
    sizes: str, table: "Table", leave_out: str, some: Some | None = None
) -> tuple[int, ...]:
    """The training sizes that are asked for, or the usual ones of a table.

    InputError for sizes that leave nothing to score on, before anything is fitted.
    """
    from autotune.errors import Fault, InputError
    from autotune.learn.splits import learnable, usual_sizes

    eligible, problems = some or (None, ())
    most = learnable(table, eligible, leave_out, problems)
    if not sizes:
        return usual_sizes(most)
    asked = numbers(sizes, "--sizes")
    top = most if leave_out or eligible is not None else len(table) - 1
    if asked and asked[-1] > top:
        found = f"{asked[-1]} rows to learn from, of {len(table)} in {table.name}"
        expected = f"at most {top}, so that some are left to score on"
        raise InputError(Fault(where="--sizes", found=found, expected=expected))
    return asked


def known_models(names: tuple[str, ...]) -> None:
    """InputError for a name that no model has, with the nearest: before anything is read."""
    from autotune.errors import InputError, unknown_name
    from autotune.learn.comparison import NAMES

    for name in names:
        if name not in NAMES:
            raise InputError(unknown_name("--models", "model", name, NAMES))


def leave_if_interrupted(found: "CurveTable") -> None:
    """Exit 130 where Ctrl-C ended the curves; what was known by then is printed."""
    if found.interrupted:
        note(f"interrupted after {len(found.trials)} of {found.planned} fits")
        raise typer.Exit(130)


def listed(text: str) -> tuple[str, ...]:
    """Names between commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def numbers(text: str, option: str) -> tuple[int, ...]:
    """Different whole numbers between commas, ascending; BadParameter for anything else."""
    try:
        return tuple(sorted({int(part) for part in listed(text)}))
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not whole numbers between commas", param_hint=option
        ) from None


def check_page(path: Path | None) -> None:
    """InputError where a page cannot be written: before anything is fitted."""
    from autotune.errors import Fault, InputError

    if path is not None and not (path.parent.is_dir() and os.access(path.parent, os.W_OK)):
        found = f"a page cannot be written into {path.parent}"
        raise InputError(Fault(where=str(path), found=found, expected="a folder that is there"))


def write_page(found: "CurveTable", title: str, told: str, path: Path) -> None:
    """A page with the curves drawn and the tables below; InputError where it cannot be written."""
    from autotune.errors import Fault, InputError
    from autotune.report import draw_curves, draw_learned

    content = draw_curves.page(title, draw_learned.svg(found, title), told)
    try:
        path.write_text(content, encoding="utf-8")
    except OSError as error:
        reason = f"cannot be written: {error.strerror or error}"
        raise InputError(Fault(where=str(path), found=reason)) from error
    note(f"wrote {path}")
