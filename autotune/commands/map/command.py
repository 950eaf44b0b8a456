"""``autotune map``: which candidate wins where over size and threads."""

import shlex

import typer

from autotune.commands.map.map_request import USUAL_TOLERANCE, MapRequest
from autotune.commands.options import (
    DEFAULT_STORE,
    Config,
    Report,
    StoreOptions,
    command,
    command_options,
)
from autotune.commands.output import TerminalProgress, document, note, say

EXAMPLE = (
    "Example: autotune map configs/quickstart.yaml --sizes 64..1024:9 --threads 1,all"
    " --report map.html; after Ctrl-C: the same with --resume"
)


@command_options
class MapOptions:
    """Options of ``autotune map``, in the order of its help."""

    config: Config
    request: MapRequest
    report: Report = None
    results: StoreOptions

    def resumed(self) -> str:
        """The command line that continues an interrupted map."""
        request = self.request
        given = (
            ("--sizes", request.sizes),
            ("--threads", request.threads),
            ("--tolerance", "" if request.tolerance == USUAL_TOLERANCE else request.tolerance),
            ("--problem", request.problem),
        )
        words = ["autotune map", shlex.quote(str(self.config))]
        words += [f"{name} {shlex.quote(value)}" for name, value in given if value]
        return " ".join([*words, "--resume"]) + self.results.again


@command
def decide(options: MapOptions) -> None:
    """Map which candidate wins, over size and threads.

    The map states what following it may cost.

    Every cell is predicted; only cells with an unsure winner are measured. The map is kept with the
    latest study of the config: report draws it, export uses it.
    """
    from autotune.commands.map import flow
    from autotune.commands.map.document import MapDocument
    from autotune.commands.rank import ranked_space
    from autotune.results.maps import text
    from autotune.results.page import page_file

    workload = ranked_space.load(options.config)
    if options.report is not None:
        page_file.check(options.report)
    progress = TerminalProgress()
    try:
        mapped = flow.make(workload, options.request, options.results.store, progress)
    except KeyboardInterrupt as stop:
        progress.close()
        kept = f"every finished sample is kept: {options.resumed()}"
        note(f"interrupted; {kept if stop.args else 'nothing was measured yet'}")
        raise typer.Exit(130) from None
    progress.close()
    flow.require_map(mapped)
    if options.results.json:
        document(
            MapDocument(study=mapped.study, store=options.results.shown, maps=tuple(mapped.maps))
        )
    else:
        place = options.results.shown
        store = "" if place == DEFAULT_STORE else shlex.quote(place)
        say(text.text(mapped.maps, mapped.study, store=store))
    if options.report is not None:
        from autotune.commands.tune.flow import study, write_report

        page = write_report(study(mapped.study, options.results.store), options.report)
        note(f"wrote {page}")
    flow.require_success(mapped)
