"""``autotune assert run``: run a program, record what it asserts, check it."""

from pathlib import Path
from typing import Annotated

import typer

from autotune.commands.assertion.record_options import VerdictOptions
from autotune.commands.options import Json, command, command_options
from autotune.commands.output import document, note, say

EXAMPLE = (
    "Example: autotune assert run -- mpiexec -n 4 ./cg; autotune assert run --tolerance flop=3%"
    " --output records -- ./solver input.txt; autotune assert run --lackey -- ./solver small.txt"
)
RECORDS = Path("assertion-records")


@command_options
class AssertRunOptions:
    """Options of ``autotune assert run``, in the order of its help."""

    program: Annotated[
        list[str],
        typer.Argument(
            metavar="-- COMMAND", help="The program or the launcher of its ranks, as typed."
        ),
    ]
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the records.")] = (
        RECORDS
    )
    mpi: Annotated[
        bool | None,
        typer.Option(
            "--mpi/--no-mpi",
            help="Record calls of MPI. Default: if a launcher of ranks, a program linked to MPI, or"
            " a script with mpi4py is run.",
        ),
    ] = None
    events: Annotated[
        bool, typer.Option("--events", help="Also keep the first million events, a file per rank.")
    ] = False
    lackey: Annotated[
        bool,
        typer.Option(
            "--lackey",
            help="Run the program again under valgrind (lackey), about a hundred times slower and"
            " without input, so with a small problem: loads, stores and arithmetic of the"
            " whole program, beside what is asserted and counted. No verdict.",
        ),
    ] = False
    only_record: Annotated[
        bool, typer.Option("--only-record", help="Only record; check nothing.")
    ] = False
    verdicts: VerdictOptions
    json: Json = False


@command
def run(options: AssertRunOptions) -> None:
    """Run a program, record its assertions, check them.

    The library that records is compiled at first use, and preloaded into the program or its ranks;
    a program that was built with modeling_assertions.h, the Fortran module or autotune.assertions
    needs no other build. What the program prints is passed through. Exit code 1 where an assertion
    fails or the program ends badly.
    """
    from autotune.commands.assertion.check import flow as check_flow
    from autotune.commands.assertion.run import flow
    from autotune.commands.assertion.run.document import AssertionRunDocument
    from autotune.commands.assertion.run.recorded_launch import RunRecording, library, starts_ranks
    from autotune.paths import absolute
    from autotune.results.assertion import check_text, totals_text

    _settle(options)
    ranks = starts_ranks(options.program) if options.mpi is None else options.mpi
    recording = RunRecording(
        library=library(options.program, ranks=ranks),
        folder=absolute(options.output),
        run=flow.run_name(options.program),
        events=options.events,
    )
    try:
        end = flow.start(options.program, recording, quiet_stdout=options.json)
    except KeyboardInterrupt:
        note(f"interrupted; what was recorded until then is kept in {options.output}")
        raise
    place = f"records of run {recording.run} are in {options.output}"
    if end.words:
        note(end.words)
    if options.only_record:
        note(place)
        raise typer.Exit(int(bool(end.words)))
    runs = flow.read_runs(recording, end)
    checked = [check_flow.check(records, options.verdicts) for records in runs]
    fails = bool(end.words) or any(failing for _, failing in checked)
    checks = tuple(check for check, _ in checked)
    if not options.json:
        say("\n\n".join(check_text.text(check) for check in checks))
        note(place)
    counts = options.lackey and not end.words
    totals = flow.whole_program(options.program, runs, end) if counts else ()
    if options.json:
        document(
            AssertionRunDocument(
                command=tuple(options.program),
                folder=options.output,
                program=end,
                checks=checks,
                totals=totals,
                fails=fails,
            )
        )
    elif totals:
        say("\n" + totals_text.text(totals))
    if fails:
        raise typer.Exit(1)


def _settle(options: AssertRunOptions) -> None:
    """InputError for options that cannot be, before the program runs."""
    from autotune.commands.assertion.check import flow as check_flow
    from autotune.commands.assertion.run import flow
    from autotune.errors import Fault, InputError

    check_flow.settle(options.verdicts)
    if options.lackey and options.only_record:
        raise InputError(Fault(where="--lackey", found="--only-record is given too"))
    if options.lackey:
        flow.settle_lackey(options.program)
