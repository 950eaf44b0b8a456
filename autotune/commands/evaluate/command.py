"""``autotune evaluate``: engines compared with learned models, on the candidates of a study."""

from pathlib import Path
from typing import Annotated

import typer

from autotune.commands.learn.curve_options import (
    CurveOptions,
    EligibleRows,
    Page,
    check_models,
    check_page,
    leave_if_interrupted,
    write_page,
)
from autotune.commands.options import DEFAULT_STORE, Json, Store, Study, command, command_options
from autotune.commands.output import TerminalProgress, document, note, say

EXAMPLE = (
    "Example: autotune evaluate quickstart --measure configs/quickstart.yaml;"
    " autotune evaluate quickstart --leave-out N --models analytical,pool,am-scaled"
)


@command_options
class EvaluateOptions:
    """Options of ``autotune evaluate``, in the order of its help."""

    study: Study = ""
    curves: CurveOptions
    config: Annotated[
        Path | None,
        typer.Option(
            "--measure", metavar="CONFIG", help="First measure random candidates of this config."
        ),
    ] = None
    count: Annotated[
        int,
        typer.Option(
            "--random",
            help="With --measure: measure until there are this many random candidates.",
            min=1,
        ),
    ] = 30
    fewer: Annotated[
        bool, typer.Option("--fewer", help="Accept fewer than 30 random candidates.")
    ] = False
    store: Store = DEFAULT_STORE
    output: Page = None
    json: Json = False


@command
def evaluate(options: EvaluateOptions) -> None:
    """Find what predicts a study best: engines, models or both.

    Models are trained on growing parts of the measured candidates. They are scored on candidates
    that were measured at random and not trained on, because the candidates that a tuner chose are
    those it expected to be fast. If all candidates of a problem were measured, any of them may be
    scored on. After Ctrl-C the results so far are shown.
    """
    from autotune.commands.evaluate import flow
    from autotune.commands.learn.compare import document as documents
    from autotune.commands.learn.compare import text
    from autotune.learning.comparison.model_comparison import ComparisonRequest

    curves = options.curves
    scoring = curves.scoring()
    check_models(curves.model_names)
    check_page(options.output)
    progress = TerminalProgress()
    name, drawn = options.study, 0
    if options.config is not None:
        name, drawn = _measure(options, options.config, progress)
    study = flow.measured(name, options.store, progress)
    notes = flow.check_random(study, fewer=options.fewer)
    rows = EligibleRows(study.random, study.problems)
    split_plan = curves.splits(study.tables[0], flow.left_out(study, curves.leave_out), rows)
    contenders = flow.compared_models(study, curves.model_names)
    request = ComparisonRequest(split_plan=split_plan, scoring=scoring)
    result = flow.evaluate_models(study, contenders, request, progress, notes)
    progress.close()
    tables = text.evaluation(result)
    if options.output is not None:
        write_page(result.curve, f"Models of study {result.study.name}", tables, options.output)
    if options.json:
        document(documents.evaluation(result, drawn))
    else:
        say(tables)
    leave_if_interrupted(result.curve)


def _measure(options: EvaluateOptions, config: Path, progress: TerminalProgress) -> tuple[str, int]:
    """Measure random candidates of a study; its name and the number of candidates measured."""
    from autotune.commands.evaluate.measure_random import measure_random
    from autotune.commands.rank import ranked_space

    workload = ranked_space.load(config)
    try:
        name, drawn = measure_random(
            workload, options.study, options.store, options.count, progress, options.curves.seed
        )
    except KeyboardInterrupt:
        progress.close()
        note("interrupted; what was measured is in the store, the same command goes on with it")
        raise typer.Exit(130) from None
    progress.close()
    if drawn:
        note(f"measured {drawn} random candidates of study {name}")
    return name, drawn
