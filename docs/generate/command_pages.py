"""Reference pages of the commands, from the command line itself."""

import re
from collections.abc import Iterator
from typing import Any

import typer
from schema_pages import cell

from autotune.commands.app import app


def pages() -> dict[str, str]:
    """The Markdown of every page by its path: one per command at the top, and their list."""
    top: Any = typer.main.get_command(app)
    text = {
        f"reference/commands/{name}.md": "\n".join(_lines(f"autotune {name}", command, "#")) + "\n"
        for name, command in top.commands.items()
    }
    rows = [f"| [{n}]({n}.md) | {_first(c.help)} |" for n, c in top.commands.items()]
    head = ["# Commands", "", "Every command takes `--help`, and almost every one `--json`.", ""]
    text["reference/commands/index.md"] = "\n".join(
        [*head, "| command | does |", "|---|---|", *rows, ""]
    )
    return text


def _lines(name: str, command: Any, mark: str) -> Iterator[str]:
    """The section of a command, then those of its own commands."""
    context = typer.Context(command, info_name=name)
    yield from (f"{mark} {name}", "", _prose(command.help), "")
    inner = getattr(command, "commands", {})
    if inner:
        for short, part in inner.items():
            yield from _lines(f"{name} {short}", part, mark + "#")
        return
    yield from ("```text", command.get_usage(context).removeprefix("Usage: "), "```", "")
    records = [record for p in command.params if (record := p.get_help_record(context))]
    if records:
        yield from ("| argument or option | meaning |", "|---|---|")
        yield from (f"| `{flag}` | {cell(words)} |" for flag, words in records)
        yield ""
    yield from _examples(command.epilog)


def _examples(epilog: str | None) -> Iterator[str]:
    """The examples of the help, each a line of code; words between them stay comments."""
    if not epilog:
        return
    yield from ("```sh", *_example_lines(epilog), "```", "")


def _example_lines(epilog: str) -> Iterator[str]:
    for part in re.sub(r"^Examples?: ", "", epilog.strip()).split(";"):
        words, mark, line = part.strip().rpartition(": autotune ")
        if words:
            yield f"# {words}"
        yield f"autotune {line}" if mark else line


def _first(text: str | None) -> str:
    return cell((text or "").partition("\n\n")[0])


def _prose(text: str | None) -> str:
    return (text or "").replace("``", "`").replace("<", "&lt;")
