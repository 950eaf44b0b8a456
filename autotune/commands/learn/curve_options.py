"""Options of the commands that draw learning curves, and the code that these commands share."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from autotune.commands.options import USUAL_CONFIDENCE, Confidence, command_options, share
from autotune.commands.output import note
from autotune.learning.comparison.split_settings import DRAWING, REPEATS, SEED, Drawing

if TYPE_CHECKING:
    from autotune.domain.tables.table import MeasurementTable
    from autotune.learning.comparison.curve_fits import Scoring
    from autotune.learning.comparison.learning_curves import CurveTable
    from autotune.learning.comparison.splits import SplitPlan
    from autotune.learning.models.base import Bools

Page = Annotated[
    Path | None, typer.Option("-o", "--output", help="Also write a page with the curves drawn.")
]


class EligibleRows(NamedTuple):
    """The rows that models may be scored on, and the label of the problem of every row."""

    eligible: "Bools"
    problems: tuple[str, ...]


@command_options
class CurveOptions:
    """Which models learn, from how many rows, and what they are scored by."""

    models: Annotated[
        str,
        typer.Option(
            "--models",
            metavar="MODEL,...",
            help="Which models are compared, such as pool or analytical. Default: the usual ones"
            " that apply.",
        ),
    ] = ""
    sizes: Annotated[
        str,
        typer.Option(
            "--sizes", metavar="N,...", help="Numbers of rows to learn from. Default: doubling."
        ),
    ] = ""
    repeats: Annotated[int, typer.Option("--repeats", help="Random splits per size.", min=1)] = (
        REPEATS
    )
    seed: Annotated[
        int,
        typer.Option("--seed", help="Seed of the splits; the same seed, the same splits.", min=0),
    ] = SEED
    leave_out: Annotated[
        str,
        typer.Option(
            "--leave-out",
            metavar="PARAMETER",
            help="Score on each value of a parameter in turn, without learning from rows with it.",
        ),
    ] = ""
    design: Annotated[
        Drawing,
        typer.Option("--design", help="How the rows to learn from are chosen."),
    ] = DRAWING
    top: Annotated[
        str, typer.Option("--top", metavar="K,...", help="The numbers k of the top-k loss.")
    ] = "1,3,10"
    confidence: Confidence = USUAL_CONFIDENCE

    @property
    def model_names(self) -> tuple[str, ...]:
        """The names of the models; empty for the usual models."""
        return listed(self.models)

    def scoring(self) -> "Scoring":
        """The scores to compute. BadParameter for an option that cannot be read."""
        from autotune.learning.comparison.curve_fits import Scoring

        return Scoring(
            tops=numbers(self.top, "--top"), level=share(self.confidence, "--confidence")
        )

    def splits(
        self, table: "MeasurementTable", leave_out: str, rows: EligibleRows | None = None
    ) -> "SplitPlan":
        """The random splits of a table into training rows and scored rows.

        InputError for sizes that leave nothing to score on.
        """
        from autotune.learning.comparison.splits import SplitPlan

        return SplitPlan(
            sizes=sizes_of(self.sizes, table, leave_out, rows),
            repeats=self.repeats,
            seed=self.seed,
            leave_out=leave_out,
            drawing=self.design,
        )


def sizes_of(
    sizes: str, table: "MeasurementTable", leave_out: str, rows: EligibleRows | None = None
) -> tuple[int, ...]:
    """The training sizes of an option; if it is empty, the usual sizes for a table.

    InputError, before anything is fitted, for sizes that leave nothing to score on.
    """
    from autotune.errors import Fault, InputError
    from autotune.learning.comparison.splits import learnable, usual_sizes

    eligible, problems = rows or (None, ())
    most = learnable(table, eligible, leave_out, problems)
    if not sizes:
        return usual_sizes(most)
    chosen = numbers(sizes, "--sizes")
    top = most if leave_out or eligible is not None else len(table) - 1
    if chosen and chosen[-1] > top:
        found = f"{chosen[-1]} rows to learn from, of {len(table)} in {table.name}"
        expected = f"at most {top}, so that some are left to score on"
        raise InputError(Fault(where="--sizes", found=found, expected=expected))
    return chosen


def check_models(names: tuple[str, ...]) -> None:
    """InputError, with the nearest name, if no model has one of the names."""
    from autotune.errors import InputError, unknown_name
    from autotune.learning.comparison.model_comparison import NAMES

    for name in names:
        if name not in NAMES:
            raise InputError(unknown_name("--models", "model", name, NAMES))


def leave_if_interrupted(curves: "CurveTable") -> None:
    """Exit with code 130 if Ctrl-C ended the curves before all models were fitted."""
    if curves.interrupted:
        note(f"interrupted after {len(curves.trials)} of {curves.planned} fits")
        raise typer.Exit(130)


def listed(text: str) -> tuple[str, ...]:
    """The names in a text that separates them by commas."""
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
    """InputError if the page cannot be written, or would replace a file that is not such a page.

    Call it before any model is fitted.
    """
    from autotune.errors import Fault, InputError
    from autotune.results.page import page_file

    if path is None:
        return
    if not (path.parent.is_dir() and os.access(path.parent, os.W_OK)):
        found = f"a page cannot be written into {path.parent}"
        raise InputError(Fault(where=str(path), found=found, expected="a folder that is there"))
    page_file.check(path)


def write_page(curves: "CurveTable", title: str, tables: str, path: Path) -> None:
    """Write a page with the learning curves and tables; InputError if that is not possible."""
    from autotune.commands.learn.compare import curve_page
    from autotune.commands.learn.compare import figure as compare_figure
    from autotune.results.page import frame

    drawing = frame.Drawing(compare_figure.svg(curves, title))
    frame.write(curve_page.page(curves, title, tables, drawing), path)
    note(f"wrote {path}")
