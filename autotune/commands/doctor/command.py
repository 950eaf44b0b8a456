"""``autotune doctor``: what is installed, and what is missing."""

import typer

from autotune.commands.options import Json
from autotune.commands.output import document

EXAMPLE = "Example: autotune doctor"


def doctor(json: Json = False) -> None:
    """Show what is installed and what is missing, with the exact command that installs it."""
    from autotune.commands.doctor import text
    from autotune.commands.machine.document import DoctorDocument
    from autotune.measuring.host.doctor import examine

    findings = examine()
    if json:
        document(DoctorDocument(findings=tuple(findings)))
    else:
        typer.echo(text.doctor(findings))
    if any(finding.state == "missing" for finding in findings):
        raise typer.Exit(2)
