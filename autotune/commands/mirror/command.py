"""``autotune mirror``: a study of the store as a journal for programs that read Optuna's format."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from autotune.commands.options import StoreOptions, Study, command, command_options
from autotune.commands.output import document, note
from autotune.units import counted

EPILOG = (
    "Example: autotune mirror quickstart -o quickstart.journal;"
    " then: optuna-dashboard quickstart.journal"
)


@command_options
class MirrorOptions:
    """Options of ``autotune mirror``, in the order of its help."""

    study: Study = ""
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="The journal file; an existing journal is replaced."),
    ] = Path("autotune.journal")
    objective: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A value of each trial: time, energy or memory. May be repeated. Default: time.",
        ),
    ] = None
    results: StoreOptions


@command
def mirror(options: MirrorOptions) -> None:
    """Write a study as a journal for optuna-dashboard.

    The store is not changed.
    """
    from autotune.commands.mirror.document import MirrorDocument
    from autotune.commands.tune.flow import study as load_study
    from autotune.domain.setup import OBJECTIVES
    from autotune.results.export import optuna_journal

    result = load_study(options.study, options.results.store)
    requested = list(dict.fromkeys(options.objective or ["time"]))
    unknown = [name for name in requested if name not in OBJECTIVES]
    if unknown:
        fault = f"{unknown[0]!r} is not one of {', '.join(OBJECTIVES)}"
        raise typer.BadParameter(fault, param_hint="--objective")
    objectives = tuple(name for name in OBJECTIVES if name in requested)
    trials = optuna_journal.write(result.evaluation, options.output, objectives)
    if options.results.json:
        name = result.record.name
        studies = tuple(f"{name}/{problem.label}" for problem in result.evaluation.problems)
        document(MirrorDocument(study=name, file=options.output, studies=studies, trials=trials))
    else:
        look = f"optuna-dashboard {shlex.quote(str(options.output))}"
        note(f"wrote {counted(trials, 'trial')}; look at them with: {look}")
