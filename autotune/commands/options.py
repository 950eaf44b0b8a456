"""Options and arguments that several commands have."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from autotune.domain.setup import Engine as EngineOfSetup

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

Config = Annotated[Path, typer.Argument(help="A config file, such as configs/quickstart.yaml.")]
EngineName = Literal["reuse", "kerncraft", "planes", "both"]
Engine = Annotated[
    EngineName | None,
    typer.Option(
        "--engine",
        help="Who predicts the time on a node: reuse (from the compiled loops), kerncraft (IVPs, as"
        " published), planes (stencils, as published), or both that can. Default: the config's.",
    ),
]
Study = Annotated[str, typer.Argument(help="Name of a study in the store; the latest if left out.")]


def engines(engine: EngineName | None, family: str = "ivp") -> "Sequence[EngineOfSetup] | None":
    """The engines that an option stands for; None: that of the config."""
    from autotune.domain.setup import ENGINES

    return None if engine is None else ENGINES[family] if engine == "both" else (engine,)


def refuse_together(option: str, others: Mapping[str, bool]) -> None:
    """Raise BadParameter where an option is given with any of those that do not go with it."""
    given = [name for name, wanted in others.items() if wanted]
    if given:
        raise typer.BadParameter(f"does not go with {', '.join(given)}", param_hint=option)


def share(text: str, option: str) -> float:
    """``5 %``, ``5%`` or ``0.05``; BadParameter for what is no share."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(%?)\s*", text)
    if found is None:
        raise typer.BadParameter(f"{text!r} is not a share: 5 %", param_hint=option)
    return float(found[1]) / (100 if found[2] else 1)
