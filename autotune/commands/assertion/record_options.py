"""Options of the commands that read or check records."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autotune.commands.options import command_options

if TYPE_CHECKING:
    from autotune.assertions.records.run_records import RunRecords

Records = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE",
        help="Records RUN.RANK.json, folders of them, or profiles of Caliper (.cali).",
    ),
]


Run = Annotated[
    str,
    typer.Option(
        "--run", metavar="RUN", help="Which run, if a folder holds the records of several."
    ),
]


@command_options
class RecordOptions:
    """Which of the records are read."""

    run: Run = ""
    rank: Annotated[
        int | None, typer.Option("--rank", help="Only this rank; the others may be missing.", min=0)
    ] = None
    gcov: Annotated[
        Path | None,
        typer.Option(
            "--gcov",
            help="Folder of .gcda files of all ranks together, beside the object files. Counts of"
            " each rank are read without it. See `autotune assert flags`.",
        ),
    ] = None

    def read(self, places: list[Path]) -> "RunRecords":
        """The chosen records of files and folders, with counts of source lines."""
        from autotune.assertions.counters import record_counts
        from autotune.assertions.records import run_records

        run = run_records.read(places, self.run, self.rank)
        if self.gcov is None:
            return run
        merged = record_counts.with_merged_counts(run.records, self.gcov)
        return replace(run, records=merged)


@command_options
class VerdictOptions:
    """What is borne, and where the verdicts are written."""

    tolerance: Annotated[
        list[str] | None,
        typer.Option(
            "--tolerance",
            metavar="SHARE",
            help="Share of the counted value by which an assertion may be wrong, 5%; of one kind:"
            " flop=5%. May be repeated. Exact if left out.",
        ),
    ] = None
    partial: Annotated[
        bool,
        typer.Option(
            "--partial", help="Messages that no assertion predicted are listed, but are no failure."
        ),
    ] = False
    fail_if: Annotated[
        str,
        typer.Option(
            "--fail-if",
            metavar="CONDITION",
            help="Fail if this holds, and only then: 'failures > 0 or worst_error > 0.1'."
            " Whatever hides failures, such as a missing rank, fails in any case.",
        ),
    ] = ""
    junit: Annotated[
        Path | None, typer.Option("--junit", help="Also write JUnit XML here, for a CI server.")
    ] = None
    markdown: Annotated[
        Path | None, typer.Option("--markdown", help="Also write a summary in Markdown here.")
    ] = None
    page: Annotated[Path | None, typer.Option("--page", help="Also write an HTML page here.")] = (
        None
    )
