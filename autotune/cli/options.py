"""Options that every group of commands has."""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, nothing else.")]
