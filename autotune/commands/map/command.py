"""``autotune map``: which candidate wins where over size and threads."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autotune.commands.options import DEFAULT_STORE, Json, Store, command, command_options, share
from autotune.commands.output import TerminalProgress, document, note

if TYPE_CHECKING:
    from autotune.commands.map.flow import MapRequest

EXAMPLE = (
    "Example: autotune map configs/quickstart.yaml --sizes 64..1024:9 --threads 1,all"
    " --report map.html; after Ctrl-C: the same with --resume"
)


USUAL_TOLERANCE = "5 %"


@command_options
class MapOptions:
    """Options of ``autotune map``, in the order of its help."""

    config: Annotated[Path, typer.Argument(help="A config file, such as configs/quickstart.yaml.")]
    sizes: Annotated[
        str | None,
        typer.Option(
            help="A range by equal ratios, 64..4096:17, or sizes between commas; grids keep their"
            " shape, the size is that of the dimension with unit stride. Default: 17 from the"
            " smallest to the largest problem of the config."
        ),
    ] = None
    threads: Annotated[
        str | None,
        typer.Option(help="Numbers between commas, or all: 1,2,all. Default: the config's."),
    ] = None
    budget_seconds: Annotated[
        float | None, typer.Option(help="Start no launch after this many seconds.", min=1)
    ] = None
    budget_evaluations: Annotated[
        int | None,
        typer.Option(help="Measure at most so many times a candidate in a cell.", min=2),
    ] = None
    tolerance: Annotated[
        str, typer.Option(help="The loss that is good enough, everywhere with 95 %.")
    ] = USUAL_TOLERANCE
    problem: Annotated[
        str, typer.Option("--problem", help="Only what the problem of this label computes.")
    ] = ""
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on: use what earlier runs of the map measured.")
    ] = False
    report: Annotated[
        Path | None, typer.Option("--report", help="Also write the HTML page here.")
    ] = None
    store: Store = DEFAULT_STORE
    json: Json = False

    def request(self) -> "MapRequest":
        """The axes and limits of the map. BadParameter or InputError for an unreadable option."""
        from autotune.commands.map.flow import MapRequest
        from autotune.tuning.maps import axes

        return MapRequest(
            sizes=None if self.sizes is None else axes.sizes(self.sizes),
            threads=self.threads,
            budget_seconds=self.budget_seconds,
            budget_evaluations=self.budget_evaluations,
            tolerance=share(self.tolerance, "--tolerance"),
            problem=self.problem,
            resume=self.resume,
        )

    def resumed(self) -> str:
        """The command line that continues an interrupted map."""
        given = (
            ("--sizes", self.sizes),
            ("--threads", self.threads),
            ("--tolerance", "" if self.tolerance == USUAL_TOLERANCE else self.tolerance),
            ("--problem", self.problem),
        )
        words = ["autotune map", shlex.quote(str(self.config))]
        words += [f"{name} {shlex.quote(value)}" for name, value in given if value]
        words.append("--resume")
        if self.store != DEFAULT_STORE:
            words.append(f"--store {shlex.quote(self.store)}")
        return " ".join(words)


@command
def decide(options: MapOptions) -> None:
    """Which candidate wins where over size and threads, and what following the map may cost.

    Every cell is predicted; only cells with an unsure winner are measured. The map is kept with the
    latest study of the config: report draws it, export uses it.
    """
    from autotune.commands.map import flow
    from autotune.commands.map.document import MapDocument
    from autotune.commands.rank import ranked_space
    from autotune.results.maps import text
    from autotune.results.report import page_file

    request = options.request()
    workload = ranked_space.load(options.config)
    if options.report is not None:
        page_file.check(options.report)
    progress = TerminalProgress()
    try:
        mapped = flow.make(workload, request, options.store, progress)
    except KeyboardInterrupt as stop:
        progress.close()
        kept = f"every finished sample is kept: {options.resumed()}"
        note(f"interrupted; {kept if stop.args else 'nothing was measured yet'}")
        raise typer.Exit(130) from None
    progress.close()
    flow.require_map(mapped)
    if options.json:
        document(MapDocument(study=mapped.study, store=options.store, maps=tuple(mapped.maps)))
    else:
        store = shlex.quote(options.store) if options.store != DEFAULT_STORE else ""
        typer.echo(text.text(mapped.maps, mapped.study, store=store))
    if options.report is not None:
        from autotune.commands.tune.flow import study, write_report

        page = write_report(study(mapped.study, options.store), options.report)
        note(f"wrote {page}")
    flow.require_success(mapped)
