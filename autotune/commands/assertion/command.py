"""``autotune assert``: assertions of a program, recorded, checked, shown."""

import typer

from autotune.commands.assertion.check import command as check_command
from autotune.commands.assertion.flags import command as flags_command
from autotune.commands.assertion.modelling import command as modelling_command
from autotune.commands.assertion.run import command as run_command
from autotune.commands.assertion.show import command as show_command

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Assertions of programs: run, check, show, model.",
)
app.command("run", epilog=run_command.EXAMPLE)(run_command.run)
app.command("check", epilog=check_command.EXAMPLE)(check_command.check)
app.command("show", epilog=show_command.EXAMPLE)(show_command.show)
modelling_command.register(app)
app.command("flags", epilog=flags_command.EXAMPLE)(flags_command.flags)
