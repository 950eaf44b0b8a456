"""``autotune machine``: machine files and this host."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autotune.commands import completion
from autotune.commands.machine.refine.refine_options import RefinementOptions
from autotune.commands.options import Json, StoreOptions, command, command_options, seconds
from autotune.commands.output import TerminalProgress, document, note, say

if TYPE_CHECKING:
    from autotune.domain.machine import Machine

Page = Annotated[
    Path | None,
    typer.Option("-o", "--page", metavar="PATH", help="Also write the figures as an HTML page."),
]

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Machine files and this host.")


@app.command("list", epilog="Example: autotune machine list")
def machine_list(json: Json = False) -> None:
    """List the machine files that come with autotune."""
    from autotune.commands.machine import document as documents
    from autotune.commands.machine import text
    from autotune.commands.rank import host_machine as hosts

    machines = hosts.machines()
    if json:
        document(documents.MachineListDocument(machines=tuple(machines)))
    else:
        say(text.machines(machines))


@app.command("show", epilog="Example: autotune machine show haswell-e5-2630v3")
def machine_show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Name of a machine file, a path, or host.",
            autocompletion=completion.machines,
        ),
    ] = "host",
    page: Page = None,
    json: Json = False,
) -> None:
    """Show one machine with the source of each figure.

    The machine called host is this one, shown with its calibration, if it has one.
    """
    from autotune.commands.machine import document as documents
    from autotune.commands.machine import text
    from autotune.commands.rank import host_machine as hosts

    machine = hosts.machine(name)
    if json:
        document(documents.MachineDocument(schema="autotune.machine.show/1", machine=machine))
    else:
        say(text.machine(machine))
    _write_page(machine, page)


@app.command("check", epilog="Example: autotune machine check my-machine.yaml")
def machine_check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A machine file.")],
    json: Json = False,
) -> None:
    """Check a machine file: schema, physics, what is missing."""
    from autotune.commands.machine import document as documents
    from autotune.commands.machine import text
    from autotune.commands.rank import host_machine as hosts

    machine = hosts.check_machine(str(file))
    gaps = hosts.machine_gaps(machine)
    if json:
        document(documents.MachineCheckDocument(machine=machine, gaps=tuple(gaps)))
    else:
        say(text.machine_check(machine, gaps))


@app.command("detect", epilog="Example: autotune machine detect -o myhost.yaml")
def machine_detect(
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="PATH", help="Also write a machine file."),
    ] = None,
    json: Json = False,
) -> None:
    """Detect what this host is, with the evidence for each figure."""
    from autotune.commands.machine import document as documents
    from autotune.commands.machine import text
    from autotune.commands.rank import host_machine as hosts

    detected = hosts.examine_host()
    machine, reasons = detected.machine, detected.reasons
    if output is not None:
        hosts.write_machine(machine, output)
        note(f"wrote {output}")
        for gap in hosts.machine_gaps(machine):
            note(f"to be added: {gap}")
    if json:
        document(documents.MachineDetectDocument(machine=machine, reasons=reasons))
    else:
        say(text.machine_detected(machine, reasons))


@command_options
class CalibrateOptions:
    """Options of ``autotune machine calibrate``, in the order of its help."""

    budget_seconds: Annotated[
        float, typer.Option(metavar="SECONDS", help="Wall time to spend.", parser=seconds(5, 600))
    ] = 45.0
    usual_load: Annotated[
        bool,
        typer.Option(
            "--usual-load",
            help="Other processes always run here as they do now: do not widen intervals for them.",
        ),
    ] = False
    page: Page = None
    json: Json = False


@app.command("calibrate", epilog="Example: autotune machine calibrate")
@command
def machine_calibrate(options: CalibrateOptions) -> None:
    """Measure this host, in less than a minute unless told otherwise.

    Measures the clock, bandwidth over working set, threads and streams, and the cost of single
    events: overlap, line-crossing loads, store forwarding, loop entry, stream start, evicted lines,
    lines from other cores, barrier, set conflicts. Each comes with the 80 % interval of its
    repeats; a summary is printed, and all of them by autotune machine show. Where other processes
    run, rounds that they did not disturb count alone once there are three: more seconds find more
    of them. An interrupted run leaves earlier measurements unchanged. Calibrations of one host wait
    for one another, and for tuners that are measuring.
    """
    from autotune.commands.machine import document as documents
    from autotune.commands.machine import text
    from autotune.commands.rank import host_machine as hosts
    from autotune.measuring.conditions.host_lock import HostLock
    from autotune.results.page import page_file

    if options.page is not None:
        page_file.check(options.page)
    progress = TerminalProgress()
    with HostLock(progress).calibrating():
        before = hosts.stored_calibration()
        machine = hosts.calibrate_host(
            options.budget_seconds, progress, usual_load=options.usual_load, requested=True
        )
    if options.json:
        document(documents.MachineDocument(schema="autotune.machine.calibrate/1", machine=machine))
    else:
        say(text.calibrated(machine, before))
    _write_page(machine, options.page)


def _write_page(machine: "Machine", path: Path | None) -> None:
    from autotune.results.page import frame
    from autotune.results.report import machine_page

    if path is not None:
        frame.write(machine_page.page(machine), path)
        note(f"wrote {path}")


@command_options
class RefineOptions:
    """Options of ``autotune machine refine``, in the order of its help."""

    refinement: RefinementOptions
    undo: Annotated[
        bool, typer.Option("--undo", help="Go back to what was measured, before any study.")
    ] = False
    results: StoreOptions


@app.command(
    "refine",
    epilog="Example: autotune machine refine quickstart;"
    " then: autotune machine refine quickstart --score heat-large --apply",
)
@command
def machine_refine(options: RefineOptions) -> None:
    """Refine this host's constants from a study.

    Prints their posterior, scored on data outside the study.
    """
    from autotune.commands.machine.refine import document as documents
    from autotune.commands.machine.refine import flow as refine_flow
    from autotune.commands.machine.refine.text import refinement

    requested = options.refinement
    if options.undo:
        if requested.study or requested.score or requested.config or requested.apply:
            raise typer.BadParameter("goes with no other option", param_hint="--undo")
        machine, place = refine_flow.undo()
        if options.results.json:
            document(documents.RefineUndoDocument(machine=machine.name, undone=place))
        note(f"the calibration is as it was measured: {place}")
        return
    done = refine_flow.refine(requested, options.results.store, TerminalProgress())
    if options.results.json:
        document(done)
    else:
        say(refinement(done.refinement, done.rows, done.notes))
    if done.applied:
        note(f"changed {done.applied}; autotune machine refine --undo takes it back")
    elif done.refused:
        note(f"not applied: {done.refused}")
        raise typer.Exit(1)
    elif not requested.apply:
        note("nothing was changed: --apply changes the calibration of this host")
