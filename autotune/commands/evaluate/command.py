"""``autotune evaluate``: engines against learned models, on the candidates of a study."""

from pathlib import Path
from typing import Annotated

import typer

from autotune.commands.learn.curve_options import (
    Drawing,
    EligibleRows,
    LeaveOut,
    Level,
    Models,
    Page,
    Repeats,
    Seed,
    Sizes,
    Top,
    check_page,
    known_models,
    leave_if_interrupted,
    listed,
    numbers,
    sizes_of,
    write_page,
)
from autotune.commands.options import DEFAULT_STORE, Json, Store, Study, share
from autotune.commands.output import TerminalProgress, document, note

EXAMPLE = (
    "Example: autotune evaluate quickstart --measure configs/quickstart.yaml;"
    " autotune evaluate quickstart --leave-out N --models analytical,pool,am-scaled"
)


def evaluate(
    study: Study = "",
    models: Models = "",
    sizes: Sizes = "",
    repeats: Repeats = 5,
    seed: Seed = 0,
    leave_out: LeaveOut = "",
    design: Drawing = "random",
    top: Top = "1,3,10",
    confidence: Level = "90 %",
    config: Annotated[
        Path | None,
        typer.Option(
            "--measure", metavar="CONFIG", help="First measure random candidates of this config."
        ),
    ] = None,
    count: Annotated[
        int, typer.Option("--random", help="With --measure: up to so many in all.", min=1)
    ] = 30,
    fewer: Annotated[
        bool, typer.Option("--fewer", help="Accept fewer than 30 random candidates.")
    ] = False,
    store: Store = DEFAULT_STORE,
    output: Page = None,
    json: Json = False,
) -> None:
    """Who predicts the candidates of a study best: engines, learned models, or both together.

    Trained on growing parts of what was measured, scored on candidates that were measured at random
    and not learned from: a tuner's own choices are those that it expected to be fast. Where all
    candidates of a problem were measured, any of them will do. Ctrl-C shows what is known by then.
    """
    from autotune.commands.evaluate import flow as pipeline
    from autotune.commands.learn.compare import document as documents
    from autotune.commands.learn.compare import text
    from autotune.learning.comparison.curve_fits import Scoring
    from autotune.learning.comparison.model_comparison import ComparisonRequest
    from autotune.learning.comparison.splits import SplitPlan

    scoring = Scoring(tops=numbers(top, "--top"), level=share(confidence, "--confidence"))
    known_models(listed(models))
    check_page(output)
    progress = TerminalProgress()
    drawn = 0
    if config is not None:
        study, drawn = _measured(config, study, store, count, seed, progress)
    found = pipeline.measured(study, store, progress)
    notes = pipeline.check_random(found, fewer=fewer)
    apart = pipeline.left_out(found, leave_out)
    first = found.tables[0]
    request = ComparisonRequest(
        course=SplitPlan(
            sizes=sizes_of(sizes, first, apart, EligibleRows(found.random, found.problems)),
            repeats=repeats,
            seed=seed,
            leave_out=apart,
            drawing=design,
        ),
        scoring=scoring,
    )
    competing = pipeline.entered(found, listed(models))
    result = pipeline.evaluate_models(found, competing, request, progress, notes)
    progress.close()
    told = text.evaluation(result)
    if output is not None:
        write_page(result.curve, f"Models of study {result.study.name}", told, output)
    if json:
        document(documents.evaluation(result, drawn))
    else:
        typer.echo(told)
    leave_if_interrupted(result.curve)


def _measured(
    config: Path, study: str, store: str, count: int, seed: int, progress: TerminalProgress
) -> tuple[str, int]:
    """The study, and how many random candidates were measured for it."""
    from autotune.commands.evaluate.measure_random import measure_random
    from autotune.commands.rank import ranked_space

    setup = ranked_space.load(config)
    try:
        name, drawn = measure_random(setup, study, store, count, progress, seed)
    except KeyboardInterrupt:
        progress.close()
        note("interrupted; what was measured is in the store, the same command goes on with it")
        raise typer.Exit(130) from None
    progress.close()
    if drawn:
        note(f"measured {drawn} random candidates of study {name}")
    return name, drawn
