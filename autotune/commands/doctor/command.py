"""``autotune doctor``: what is installed, and what is missing."""

import typer

from autotune.commands.options import Json
from autotune.commands.output import document, say

EXAMPLE = "Example: autotune doctor"


def doctor(json: Json = False) -> None:
    """Show what is installed, what is missing, and the load.

    Whatever is missing is shown with the command that installs it.
    """
    from autotune.commands.doctor import text
    from autotune.commands.machine.document import DoctorDocument
    from autotune.measuring.conditions import host_load
    from autotune.measuring.host.doctor import examine

    load = host_load.observe()
    findings = examine(load)
    if json:
        document(DoctorDocument(findings=tuple(findings), load=load))
    else:
        say(text.doctor(findings))
    if any(finding.state == "missing" for finding in findings):
        raise typer.Exit(2)
