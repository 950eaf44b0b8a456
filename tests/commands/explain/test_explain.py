"""Every word and every message with which autotune stops has an explanation."""

import ast
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import autotune
from autotune.commands.app import app
from autotune.commands.explain.explanations import (
    GlossaryWord,
    MessageKind,
    glossary,
    meaning,
    message_kind,
    message_kinds,
)
from autotune.domain.results import STATUSES
from autotune.errors import InputError
from autotune.results.report.words import STATUS_WORDS

PACKAGE = Path(autotune.__file__).parent
EXPECTED = "; expected "
"""What an explanation by its form alone needs: the kind "exit code 2" fits it."""


def templates() -> Iterator[str]:
    """The texts of all faults and failures in the source; what is filled in is ``x``."""
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "Fault(" not in text and "WorkFailed(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                if node.func.id == "Fault":
                    keys = {k.arg: _text(k.value) for k in node.keywords}
                    if found := keys.get("found"):
                        hint = f" ({keys['hint']})" if keys.get("hint") else ""
                        expected = f"{EXPECTED}{keys['expected']}" if keys.get("expected") else ""
                        yield found + expected + hint
                elif node.func.id == "WorkFailed" and node.args and _text(node.args[0]):
                    yield f"failed: {_text(node.args[0])}"


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) for part in node.values)
    return "x" if isinstance(node, ast.FormattedValue) else ""


def test_the_glossary_has_many_words_each_once_with_related_ones() -> None:
    words = glossary()
    assert len(words) >= 60
    spellings = list(itertools.chain.from_iterable(word.spellings for word in words))
    assert len(spellings) == len(set(spellings))
    names = {word.name for word in words}
    assert not {other for word in words for other in word.see} - names
    for word in ("ECM", "T_OL", "T_nOL", "noise floor", "skill", "loss", "deviation", "undecided",
                 "contended", "residual", "layer condition", "saturation"):  # fmt: skip
        assert isinstance(meaning(word), GlossaryWord)


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_has_a_word(status: str) -> None:
    assert isinstance(meaning(status), GlossaryWord)
    assert meaning(status) is meaning(STATUS_WORDS[status])


def test_every_message_of_the_source_has_a_kind() -> None:
    texts = sorted({text for text in templates() if re.search("[a-z]{2}", text)})
    assert len(texts) > 200
    unexplained = [text for text in texts if message_kind(text) is None]
    assert not unexplained


def test_patterns_compile_and_every_kind_says_what_helps() -> None:
    names = [kind.name for kind in message_kinds()]
    assert len(names) == len(set(names))
    for kind in message_kinds():
        re.compile(kind.pattern)
        assert kind.means.endswith(".")
        assert kind.advice.endswith(".")


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("failed: no candidate ran: build-failed, crashed", "no candidate ran"),
        ("error: candidate: unknown 'jl'; expected an id (did you mean jli?)", "an unknown name"),
        ("error: --store: has schema 3; expected schema 4", "the store cannot be used"),
        ("error: the compiler 'icc' is not installed", "a program is not installed"),
        ("error: a.yaml:3:5: the number 0; expected at least 1", "a wrong value"),
        ("error: 'jli' names 3 candidates", "a name of several candidates"),
        ("interrupted", "interrupted"),
        ("130", "exit code 130"),
        ("failed: nothing was measured: the budget is too short", "nothing was measured"),
    ],
)
def test_a_pasted_message_finds_its_kind(message: str, kind: str) -> None:
    found = meaning(message)
    assert isinstance(found, MessageKind)
    assert found.name == kind


def test_an_unknown_word_has_a_nearest_one() -> None:
    with pytest.raises(InputError, match="did you mean skill"):
        meaning("skil")


def test_the_command_prints_a_word_a_message_a_list_and_a_document() -> None:
    run = CliRunner().invoke
    assert "noise alone causes" in run(app, ["explain", "noise", "floor"]).output
    assert "What helps:" in run(app, ["explain", "--why:", "unknown 'x'"]).output
    assert "no candidate ran" in run(app, ["explain", "-"], input="no candidate ran\n").output
    assert "T_nOL" in run(app, ["explain"]).output
    shown = json.loads(run(app, ["explain", "ECM", "--json"]).output)
    assert (shown["schema"], shown["name"]) == ("autotune.explain/1", "ECM")
