"""``tune --replay``: searching a recorded space."""

from pathlib import Path
from typing import Literal

import typer

from autotune.commands.output import TerminalProgress, document, note, say

SamplerName = Literal["model", "random", "tpe", "gp", "cmaes", "nsga2"]


def replay_command(
    path: Path, sampler: SamplerName | None, budget: int | None, seed: int | None, *, json: bool
) -> None:
    """Search the recorded space of a file and print how soon the best was found."""
    from autotune.commands.replay import document as replay_document
    from autotune.commands.replay import text
    from autotune.commands.replay.flow import replay_file

    progress = TerminalProgress()
    try:
        replayed = replay_file(
            path,
            sampler=sampler or "model",
            budget=budget,
            seed=1 if seed is None else seed,
            progress=progress,
        )
    except KeyboardInterrupt:
        progress.close()
        note("interrupted; the recorded file is as it was")
        raise typer.Exit(130) from None
    progress.close()
    if json:
        document(replay_document.replay(replayed))
    else:
        say(text.text(replayed))
