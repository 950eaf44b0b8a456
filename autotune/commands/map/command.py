"""``autotune map``: which candidate wins where over size and threads."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from autotune.commands.options import DEFAULT_STORE, Json, Store, share
from autotune.commands.output import TerminalProgress, document, note

EXAMPLE = (
    "Example: autotune map configs/quickstart.yaml --sizes 64..1024:9 --threads 1,all"
    " --report map.html; after Ctrl-C: the same with --resume"
)


def decide(
    config: Annotated[Path, typer.Argument(help="A config file, such as configs/quickstart.yaml.")],
    sizes: Annotated[
        str | None,
        typer.Option(
            help="A range by equal ratios, 64..4096:17, or sizes between commas; grids keep their"
            " shape, the size is that of the dimension with unit stride. Default: 17 from the"
            " smallest to the largest problem of the config."
        ),
    ] = None,
    threads: Annotated[
        str | None,
        typer.Option(help="Numbers between commas, or all: 1,2,all. Default: the config's."),
    ] = None,
    budget_seconds: Annotated[
        float | None, typer.Option(help="Start no launch after this many seconds.", min=1)
    ] = None,
    budget_evaluations: Annotated[
        int | None,
        typer.Option(help="Measure at most so many times a candidate in a cell.", min=2),
    ] = None,
    tolerance: Annotated[
        str, typer.Option(help="The loss that is good enough, everywhere with 95 %.")
    ] = "5 %",
    problem: Annotated[
        str, typer.Option("--problem", help="Only what the problem of this label computes.")
    ] = "",
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on: use what earlier runs of the map measured.")
    ] = False,
    report: Annotated[
        Path | None, typer.Option("--report", help="Also write the HTML page here.")
    ] = None,
    store: Store = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """Which candidate wins where over size and threads, and what following that may cost.

    Predicted everywhere, measured only where the winner is unsure. The map is kept with the latest
    study of the config: report draws it, export uses it.
    """
    from autotune.commands.map import flow as maps
    from autotune.commands.map.document import MapDocument
    from autotune.commands.rank import ranked_space
    from autotune.results.maps import text
    from autotune.results.report import page_file
    from autotune.tuning.maps import axes

    options = maps.MapOptions(
        sizes=None if sizes is None else axes.sizes(sizes),
        threads=threads,
        budget_seconds=budget_seconds,
        budget_evaluations=budget_evaluations,
        tolerance=share(tolerance, "--tolerance"),
        problem=problem,
        resume=resume,
    )
    setup = ranked_space.load(config)
    if report is not None:
        page_file.check(report)
    progress = TerminalProgress()
    try:
        made = maps.make(setup, options, store, progress)
    except KeyboardInterrupt as stop:
        progress.close()
        place = f" --store {shlex.quote(store)}" if store != DEFAULT_STORE else ""
        given = (("--sizes", sizes), ("--threads", threads), ("--problem", problem or None))
        axes_again = "".join(f" {name} {shlex.quote(v)}" for name, v in given if v is not None)
        again = f"autotune map {shlex.quote(str(config))}{axes_again} --resume{place}"
        begun = f"; every finished sample is kept: {again}"
        note("interrupted" + (begun if stop.args else "; nothing was measured yet"))
        raise typer.Exit(130) from None
    progress.close()
    maps.require_map(made)
    if json:
        document(MapDocument(study=made.study, store=store, maps=tuple(made.maps)))
    else:
        shown = shlex.quote(store) if store != DEFAULT_STORE else ""
        typer.echo(text.text(made.maps, made.study, store=shown))
    if report is not None:
        from autotune.commands.tune.flow import study, write_report

        note(f"wrote {write_report(study(made.study, store), report)}")
    maps.require_success(made)
