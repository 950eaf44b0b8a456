"""``autotune variants``, ``predict``, ``rank``: candidates and predictions, without running
anything.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperCommand

from autotune.commands import completion
from autotune.commands.options import (
    Config,
    Engine,
    EngineName,
    Ids,
    Json,
    StoreOptions,
    Top,
    Trust,
    command,
    command_options,
    engines,
)
from autotune.commands.output import TerminalProgress, document, note, say

if TYPE_CHECKING:
    from autotune.commands.rank.ranked_space import RankedSpace
    from autotune.results.explanation.explained import RankingExplanation

VARIANTS_EXAMPLE = "Example: autotune variants configs/quickstart.yaml --illegal"
PREDICT_EXAMPLE = (
    "Example: autotune predict configs/quickstart.yaml --json > predictions.json;"
    " autotune predict configs/quickstart.yaml --formula jli-pad5"
)
RANK_EXAMPLE = (
    "Example: autotune rank configs/quickstart.yaml --top 10;"
    " autotune rank configs/quickstart.yaml --why jli-pad5;"
    " autotune rank configs/quickstart.yaml --why ijl-pad5 --against jli-pad5"
)


@command_options
class VariantsOptions:
    """Options of ``autotune variants``, in the order of its help."""

    config: Config
    illegal: Annotated[
        bool,
        typer.Option("--illegal", help="Also list the combinations left out, with their reasons."),
    ] = False
    emit: Annotated[
        str | None,
        typer.Option(
            "--emit",
            autocompletion=completion.candidates,
            metavar="CANDIDATE",
            help="Write the C source of this candidate; for a program, the commands that build and"
            " run it.",
        ),
    ] = None
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the files of --emit.")
    ] = Path()
    trust: Trust = False
    ids: Ids = False
    results: StoreOptions


@command
def variants(options: VariantsOptions) -> None:
    """List the candidates of a config, or write one's source."""
    from autotune.commands.rank import document as rank_document
    from autotune.commands.rank import emit_source, host_machine, ranked_space, text
    from autotune.workloads.capacity import candidates_on

    workload = ranked_space.load(options.config, trusted=options.trust)
    machine = host_machine.uncalibrated_machine(workload.setup)
    enumerated = candidates_on(workload, machine)
    if options.emit is not None:
        from autotune.commands.rank.recalled_candidates import with_stored

        enumerated = with_stored(enumerated, [options.emit], options.results.store)
        for line in emit_source.emit_sources(workload, enumerated, options.emit, options.output):
            note(line)
    for line in enumerated.notes:
        note(line)
    if options.results.json:
        document(rank_document.variants(workload, enumerated, illegal=options.illegal))
    elif options.emit is None:
        say(text.variants(enumerated, illegal=options.illegal, ids=options.ids))


@command_options
class PredictOptions:
    """Options of ``autotune predict``, in the order of its help."""

    config: Config
    formula: Annotated[
        str | None,
        typer.Option(
            "--formula",
            autocompletion=completion.candidates,
            metavar="CANDIDATE",
            help="Print the prediction of this candidate or variant as a formula of the size n.",
        ),
    ] = None
    engine: Engine = None
    trust: Trust = False
    ids: Ids = False
    json: Json = False


@command
def predict(options: PredictOptions) -> None:
    """Predict the time of every candidate, part by part.

    Candidates come in the order of the space.
    """
    from autotune.commands.rank import document as rank_document
    from autotune.commands.rank import text
    from autotune.commands.rank.candidate_formula import candidate_formulas
    from autotune.commands.rank.ranked_space import require_predictions

    ranked = _ranked(options.config, options.engine, trusted=options.trust)
    formulas = candidate_formulas(ranked, options.formula) if options.formula else []
    if options.json:
        document(
            rank_document.predict(
                ranked.workload, ranked.machine, ranked.enumerated.legal, ranked.rankings, formulas
            )
        )
    elif formulas:
        say(text.formulas(formulas))
    elif unranked := ranked.workload.unpredicted(ranked.rankings, ranked.machine):
        say(unranked)
    else:
        say(text.predictions(ranked.rankings, ids=options.ids))
    require_predictions(ranked)


@command_options
class RankOptions:
    """Options of ``autotune rank``, in the order of its help."""

    config: Config
    top: Top = 15
    why: Annotated[
        str | None,
        typer.Option(
            "--why",
            autocompletion=completion.candidates,
            metavar="CANDIDATE",
            help="Say in words why this candidate takes as long as predicted. The name of a variant"
            " stands for its fastest candidate in every problem.",
        ),
    ] = None
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            autocompletion=completion.candidates,
            metavar="CANDIDATE",
            help="With --why: say what makes the difference to this candidate, and first what a"
            " study measured of both, if one did.",
        ),
    ] = None
    assembly: Annotated[
        bool, typer.Option("--assembly", help="With --why: also the compiled loops, annotated.")
    ] = False
    bounds: Annotated[
        bool,
        typer.Option(
            "--bounds",
            help="Also print how far the best is from its lower bounds, and what the machine could"
            " do.",
        ),
    ] = False
    blocks: Annotated[
        bool,
        typer.Option(
            "--blocks",
            help="Also print the largest blocks of stencils whose reused data fit each cache.",
        ),
    ] = False
    engine: Engine = None
    trust: Trust = False
    ids: Ids = False
    results: StoreOptions


class RankCommand(TyperCommand):
    """The command; who names two candidates behind ``--why`` is told of ``--against``."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Refuse words that belong to no option, with that hint."""
        ctx.allow_extra_args = True
        extra = super().parse_args(ctx, args)
        if extra and not ctx.resilient_parsing:
            hint = "--why takes one candidate; --against names another to compare it with"
            said = f"Got unexpected extra argument{'s' * (len(extra) > 1)} ({' '.join(extra)})"
            ctx.fail(f"{said}. {hint}." if ctx.params.get("why") else said)
        return extra


@command
def rank(options: RankOptions) -> None:
    """Rank candidates by predicted time, each with a reason.

    No candidate is run; compilers are, and once the calibration of this host, if the config is for
    it. Ranks with ~ are not told apart from the first.
    """
    from autotune.commands.rank.ranked_space import find, require_predictions
    from autotune.errors import Fault, InputError

    for option, given in (("--against", options.against), ("--assembly", options.assembly)):
        if given and not options.why:
            raise typer.BadParameter("needs --why", param_hint=option)
    ranked = _ranked(options.config, options.engine, trusted=options.trust)
    if options.why:
        from autotune.commands.rank.recalled_candidates import with_named  # and the database

        ranked = with_named(ranked, [options.why, options.against], options.results.store)
    for line in ranked.candidate_notes:
        note(line)
    unranked = ranked.workload.unpredicted(ranked.rankings, ranked.machine)
    if unranked and options.why:
        candidate = find(ranked, options.why).candidate.id
        fault = f"{candidate} has no prediction to explain"
        raise InputError(Fault(where="--why", found=fault, hint=unranked.splitlines()[-1]))
    if unranked and not options.results.json:
        say(unranked)
        return
    reasons: list[RankingExplanation] = []
    if options.why:
        from autotune.commands.rank.explain_ranking import explain

        reasons = explain(
            ranked, options.why, options.against, TerminalProgress(), options.results.store
        )
    if options.results.json:
        from autotune.commands.rank import document as rank_document

        document(
            rank_document.rank(
                ranked.workload,
                ranked.machine,
                ranked.rankings,
                reasons,
                assembly=options.assembly,
            )
        )
    elif options.why:
        from autotune.results.explanation import text as explanation_text

        texts = [explanation_text.explained(r, assembly=options.assembly) for r in reasons]
        say("\n\n".join(texts))
    else:
        _say_rankings(ranked, options)
    require_predictions(ranked)


def _say_rankings(ranked: "RankedSpace", options: RankOptions) -> None:
    """Print the rankings, and the tables that were asked for."""
    from autotune.commands.rank import text

    say(
        text.rankings(
            ranked.rankings,
            ranked.machine,
            top=options.top,
            enumerated=ranked.enumerated,
            ids=options.ids,
        )
    )
    routes = text.routes(ranked.rankings)
    if routes:
        say(f"\n{routes}")
    if options.bounds:
        from autotune.commands.rank import bounds_text

        say(f"\n{bounds_text.text(ranked.rankings, ranked.machine)}")
    if options.blocks:
        from autotune.commands.rank import block_text

        blocks = block_text.text(ranked.rankings, ranked.machine)
        if blocks:
            say(f"\n{blocks}")


def _ranked(config: Path, engine: EngineName | None, *, trusted: bool) -> "RankedSpace":
    """The ranked candidates of a config, predicted by the selected engines."""
    from autotune.commands.rank.ranked_space import load, rank_space

    workload = load(config, trusted=trusted)
    ranked = rank_space(workload, TerminalProgress(), engines(engine, workload.engines))
    for line in ranked.machine_notes:
        note(line)
    return ranked
