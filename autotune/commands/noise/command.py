"""``autotune noise``: what differences this host can resolve now."""

from typing import Annotated

import typer

from autotune.commands import completion
from autotune.commands.options import Config, StoreOptions, command, command_options
from autotune.commands.output import TerminalProgress, document, note, say

EXAMPLE = "Example: autotune noise configs/quickstart.yaml --rounds 20"


@command_options
class NoiseOptions:
    """Options of ``autotune noise``, in the order of its help."""

    config: Config
    candidate: Annotated[
        str | None,
        typer.Option(
            "--candidate",
            autocompletion=completion.candidates,
            metavar="CANDIDATE",
            help="Id, identity or label, as rank prints them. Default: the baseline of the first"
            " problem.",
        ),
    ] = None
    rounds: Annotated[
        int, typer.Option("--rounds", min=2, help="Rounds; each launches the candidate twice.")
    ] = 10
    results: StoreOptions


@command
def noise(options: NoiseOptions) -> None:
    """Time a candidate against itself: what can be resolved now.

    It is launched as A and as B in interleaved rounds. The result says which differences can be
    told apart on this host now, in how many rounds and how long.
    """
    from autotune.commands.noise import flow, text
    from autotune.commands.noise.document import NoiseDocument
    from autotune.commands.rank import ranked_space

    workload = ranked_space.load(options.config)
    progress = TerminalProgress()
    result = flow.measure_noise(
        workload, options.candidate, options.rounds, progress, options.results.store
    )
    progress.close()
    if options.results.json:
        document(NoiseDocument.of(result))
    else:
        say(text.noise(result, str(options.config)))
    if result.run.interrupted:
        note("interrupted; the finished rounds are above")
        raise typer.Exit(130)
    if result.run.status != "ok":
        raise typer.Exit(1)
