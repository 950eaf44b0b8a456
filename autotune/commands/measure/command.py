"""``autotune measure``: one candidate."""

from typing import Annotated

import typer

from autotune.commands import completion
from autotune.commands.options import Config, StoreOptions, command, command_options
from autotune.commands.output import TerminalProgress, document, note, say

EXAMPLE = (
    "Example: autotune measure configs/quickstart.yaml --candidate ID --phases;"
    " autotune measure configs/quickstart.yaml --candidate ID --dissect"
)


@command_options
class MeasureOptions:
    """Options of ``autotune measure``, in the order of its help."""

    config: Config
    candidate: Annotated[
        str,
        typer.Option(
            "--candidate",
            autocompletion=completion.candidates,
            metavar="CANDIDATE",
            help="Id, identity or label, as rank prints them.",
        ),
    ]
    phases: Annotated[
        bool, typer.Option("--phases", help="Also time each kernel and barrier, in a separate run.")
    ] = False
    dissect: Annotated[
        bool,
        typer.Option(
            "--dissect",
            help="Also measure each term of the model by probes made of the candidate's loops:"
            " arithmetic, loads and stores, the loop with its data in each cache and in memory."
            " Every probe runs once a round; the time left is shown while they run.",
        ),
    ] = False
    results: StoreOptions


@command
def measure(options: MeasureOptions) -> None:
    """Build, verify and properly time one candidate."""
    from autotune.commands.measure import measure_one, text
    from autotune.commands.measure.document import MeasureDocument
    from autotune.commands.rank import ranked_space
    from autotune.results.report import terms_text

    workload = ranked_space.load(options.config)
    progress = TerminalProgress()
    try:
        result = measure_one.measure(
            workload,
            options.candidate,
            phases=options.phases,
            dissect=options.dissect,
            progress=progress,
            store=options.results.store,
        )
    except KeyboardInterrupt as stop:
        progress.close()
        kept = f"; the terms by the rounds so far are in {stop}: a new call begins anew" * bool(
            stop.args
        )
        note(f"interrupted{kept}")
        raise typer.Exit(130) from None
    answer = (result.ranked, result.measurement, result.location, result.phases)
    if options.results.json:
        document(MeasureDocument.of(result))
    else:
        say(text.measured(*answer))
        if result.dissection:
            say(f"\n{terms_text.text(result.dissection)}")
    if result.measurement.status != "ok":
        raise typer.Exit(1)
