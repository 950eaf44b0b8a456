"""The command line: its commands, in the order of the help."""

import re
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from autotune.commands.assertion.command import app as assert_app
from autotune.commands.check import command as check_command
from autotune.commands.comm.command import app as comm_app
from autotune.commands.compare import command as compare_command
from autotune.commands.doctor import command as doctor_command
from autotune.commands.evaluate import command as evaluate_command
from autotune.commands.explain import command as explain_command
from autotune.commands.export import command as export_command
from autotune.commands.importing import command as importing_command
from autotune.commands.init import command as init_command
from autotune.commands.learn.command import app as learn_app
from autotune.commands.machine.command import app as machine_app
from autotune.commands.map.command import EXAMPLE as MAP_EXAMPLE
from autotune.commands.map.command import decide
from autotune.commands.measure import command as measure_command
from autotune.commands.mirror import command as mirror_command
from autotune.commands.noise import command as noise_command
from autotune.commands.rank import command as rank_command
from autotune.commands.reduce import command as reduce_command
from autotune.commands.scale.command import EXAMPLE as SCALE_EXAMPLE
from autotune.commands.scale.command import scale
from autotune.commands.schema import command as schema_command
from autotune.commands.tune import command as tune_command
from autotune.errors import nearest
from autotune.version import VERSION

_COMPLETION = ("completion", "completions", "complete")
"""Names under which other programs have what is an option here."""


def _near_choice(message: str) -> str:
    """The choice that is most like the word that a message refuses; empty if none is."""
    refused = re.match(r"'(.*?)' is not one of (.*)", message, re.DOTALL)
    near = nearest(refused.group(1), re.findall(r"'(.+?)'", refused.group(2))) if refused else ""
    return f" {near[:1].upper()}{near[1:]}" if near else ""


class RefusingGroup(TyperGroup):
    """The commands, with wrong options refused in one form: the option in quotes, no prefix."""

    def invoke(self, ctx: typer.Context) -> object:  # type: ignore[override]
        """Run a command; BadParameter for an option or argument that does not fit."""
        try:
            result: object = super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            error.message += _near_choice(error.message)
            if isinstance(error.param_hint, str):
                error.param_hint = [error.param_hint]
            raise
        return result

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - types of Click
        """The command that is named; UsageError, for one that completes, with the option, and for
        one of a group, with the group.
        """
        if args and args[0] in _COMPLETION:
            ctx.fail(
                f"No such command {args[0]!r}. autotune --install-completion makes the shell"
                " complete commands; --show-completion prints how."
            )
        if args and args[0] not in self.commands:
            inside = [
                f"autotune {name} {args[0]}"
                for name, group in self.commands.items()
                if args[0] in getattr(group, "commands", ())
            ]
            if inside:
                ctx.fail(f"No such command {args[0]!r}. Did you mean {' or '.join(inside)}?")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=RefusingGroup,
    name="autotune",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Predict, rank, tune and explain the variants of one computation.",
    epilog="Start with: autotune doctor; autotune tune configs/quickstart.yaml",
)
app.add_typer(machine_app, name="machine")
app.add_typer(comm_app, name="comm")
app.add_typer(learn_app, name="learn")
app.add_typer(assert_app, name="assert")


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"autotune {VERSION}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


app.command("doctor", epilog=doctor_command.EXAMPLE)(doctor_command.doctor)
app.command("init", cls=init_command.InitCommand, epilog=init_command.EXAMPLE)(init_command.init)
app.command("variants", epilog=rank_command.VARIANTS_EXAMPLE)(rank_command.variants)
app.command("predict", epilog=rank_command.PREDICT_EXAMPLE)(rank_command.predict)
app.command("rank", cls=rank_command.RankCommand, epilog=rank_command.RANK_EXAMPLE)(
    rank_command.rank
)
app.command("tune", epilog=tune_command.EXAMPLE)(tune_command.tune)
app.command("measure", epilog=measure_command.EXAMPLE)(measure_command.measure)
app.command("noise", epilog=noise_command.EXAMPLE)(noise_command.noise)
app.command("compare", epilog=compare_command.COMPARE_EXAMPLE)(compare_command.compare)
app.command("check", epilog=check_command.EXAMPLE)(check_command.check)
app.command("reduce", epilog=reduce_command.EXAMPLE)(reduce_command.reduce)
app.command("evaluate", epilog=evaluate_command.EXAMPLE)(evaluate_command.evaluate)
app.command("report", epilog=compare_command.REPORT_EXAMPLE)(compare_command.report)
app.command("export", epilog=export_command.EPILOG)(export_command.export)
app.command("import", epilog=importing_command.EXAMPLE)(importing_command.import_)
app.command("mirror", epilog=mirror_command.EPILOG)(mirror_command.mirror)
app.command("map", epilog=MAP_EXAMPLE)(decide)
app.command("scale", epilog=SCALE_EXAMPLE)(scale)
app.command("explain", epilog=explain_command.EXAMPLE, context_settings=explain_command.CONTEXT)(
    explain_command.explain
)
app.command("schema", epilog=schema_command.EPILOG)(schema_command.schema)
