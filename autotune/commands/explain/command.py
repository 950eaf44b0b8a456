"""``autotune explain``: what a word of the output or a message of an error means."""

import sys
from typing import Annotated

import typer

from autotune.commands import completion
from autotune.commands.options import Json, command, command_options
from autotune.commands.output import document, say

EXAMPLE = (
    'Example: autotune explain noise floor; autotune explain "no candidate ran: crashed";'
    " autotune tune CONFIG 2>&1 | tail -1 | autotune explain -"
)
CONTEXT = {"ignore_unknown_options": True}
"""A message may begin with the name of an option."""


@command_options
class ExplainOptions:
    """Options of ``autotune explain``, in the order of its help."""

    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WORD|MESSAGE",
            autocompletion=completion.explained_words,
            help="A word of the output such as T_OL, or a message as it was printed; - reads it"
            " from standard input. All words are listed if left out.",
        ),
    ] = None
    json: Json = False


@command
def explain(options: ExplainOptions) -> None:
    """Say what a word or an error message means, and what helps."""
    from autotune.commands.explain import explanations, text
    from autotune.commands.explain.document import ExplainDocument

    query = " ".join(options.words or [])
    if query == "-":
        query = sys.stdin.read()
    if not query.strip():
        words = explanations.glossary()
        if options.json:
            names = tuple(word.name for word in words)
            document(ExplainDocument(name=None, text=None, advice=None, words=names))
        else:
            say(text.listed(words))
        return
    meaning = explanations.meaning(query)
    if not options.json:
        say(text.meaning(meaning))
    elif isinstance(meaning, explanations.MessageKind):
        document(
            ExplainDocument(name=meaning.name, text=meaning.means, advice=meaning.advice, words=())
        )
    else:
        document(
            ExplainDocument(name=meaning.name, text=meaning.text, advice=None, words=meaning.see)
        )
