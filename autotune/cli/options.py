"""Options that every group of commands has."""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, nothing else.")]

Store = Annotated[
    str,
    typer.Option(
        "--store",
        envvar="AUTOTUNE_STORE",
        help="Results file (SQLite) or database URL.",
    ),
]
DEFAULT_STORE = "autotune-results.sqlite"
