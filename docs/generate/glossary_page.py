"""The glossary and the messages, from the data of `autotune explain`."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from schema_pages import cell

from autotune.commands.explain import explanations
from autotune.commands.explain.explanations import GlossaryWord

FOLDER = Path(__file__).resolve().parents[2] / "autotune" / "commands" / "explain"


def pages() -> dict[str, str]:
    """The Markdown of both pages by their paths."""
    return {
        "reference/glossary.md": glossary(explanations.glossary()),
        "reference/messages.md": messages(_read("messages.toml")["messages"]),
    }


def glossary(words: Sequence[GlossaryWord]) -> str:
    """Every word with its meaning, in alphabetical order, with links between related ones."""
    lines = ["# Glossary", "", "In the terminal: `autotune explain WORD`.", ""]
    for word in sorted(words, key=lambda w: w.name.lower()):
        also = [f"Also: {', '.join(word.also)}."] if word.also else []
        see = [f"See {', '.join(word.see)}."] if word.see else []
        lines += [f"## {word.name}", "", cell(" ".join([word.text, *also, *see])), ""]
    return "\n".join(lines)


def messages(kinds: list[dict[str, Any]]) -> str:
    """Every kind of message with what it means and what helps."""
    lines = ["# Messages", "", "In the terminal: `autotune explain 'THE MESSAGE'`.", ""]
    for kind in kinds:
        lines += [f"## {kind['name']}", "", cell(kind["means"]), "", cell(kind["do"]), ""]
    return "\n".join(lines)


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / name).read_text(encoding="utf-8"))
