"""``autotune learn``: models learned from measurements, and the designs that they learn from."""

import typer

from autotune.commands.learn.compare import command as compare_command
from autotune.commands.learn.design import command as design_command
from autotune.commands.learn.fit import command as fit_command
from autotune.commands.learn.show import command as show_command

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Learned models: design, show, compare, fit.",
)
app.command("design", epilog=design_command.EXAMPLE)(design_command.design)
app.command("show", epilog=show_command.EXAMPLE)(show_command.show)
app.command("compare", epilog=compare_command.EXAMPLE)(compare_command.compare)
app.command("fit", epilog=fit_command.EXAMPLE)(fit_command.fit)
