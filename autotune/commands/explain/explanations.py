"""What words of the output and messages of errors mean: two data files, and how they are asked."""

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources

from autotune.errors import Fault, InputError, nearest

_TELLING = 4
"""Letters of a word that says something about a message."""
_ALIKE = 2
"""So many such words let a message belong to a kind that no pattern finds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GlossaryWord:
    """A word of the field with its meaning."""

    name: str
    also: tuple[str, ...] = ()
    """Further spellings."""
    text: str
    see: tuple[str, ...] = ()
    """Names of related words."""

    @property
    def spellings(self) -> tuple[str, ...]:
        """All spellings in lower case."""
        return tuple(spelling.lower() for spelling in (self.name, *self.also))


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageKind:
    """A kind of message with which a command stops."""

    name: str
    pattern: str
    """A regular expression that messages of this kind contain."""
    means: str
    advice: str
    """What helps."""


@functools.cache
def glossary() -> tuple[GlossaryWord, ...]:
    """All words, in the order of the file, from the general to the particular."""
    return tuple(
        GlossaryWord(
            name=row["name"],
            also=tuple(row.get("also", ())),
            text=row["text"],
            see=tuple(row.get("see", ())),
        )
        for row in _rows("glossary.toml", "words")
    )


@functools.cache
def message_kinds() -> tuple[MessageKind, ...]:
    """All kinds of messages; the first that fits explains a message."""
    return tuple(
        MessageKind(name=row["name"], pattern=row["pattern"], means=row["means"], advice=row["do"])
        for row in _rows("messages.toml", "messages")
    )


def _rows(file: str, key: str) -> Iterable[Mapping[str, str]]:
    text = resources.files("autotune.commands.explain").joinpath(file).read_text(encoding="utf-8")
    rows: Iterable[Mapping[str, str]] = tomllib.loads(text)[key]
    return rows


def meaning(query: str) -> GlossaryWord | MessageKind:
    """What a word or a message means. InputError with the nearest word where nothing fits."""
    words = {spelling: word for word in glossary() for spelling in word.spellings}
    plain = " ".join(query.lower().split()).strip(" .,:;*\"'`")
    for spelling in (plain, plain.removesuffix("s"), plain.replace("_", " ")):
        if spelling in words:
            return words[spelling]
    kind = message_kind(query)
    if kind is not None:
        return kind
    raise InputError(
        Fault(
            where="WORD",
            found=f"no word or message {' '.join(query.split())!r}",
            expected="a word of the output, or a message as it was printed",
            hint=nearest(plain, words) or "autotune explain lists all words",
        )
    )


def message_kind(message: str) -> MessageKind | None:
    """The kind of a message: the first whose pattern it contains, else the most alike."""
    text = " ".join(message.split())
    for part in (re.sub(r"^(error|failed): ", "", text), text):
        for kind in message_kinds():
            if re.search(kind.pattern, part):
                return kind
    telling = _telling(text)
    shared = {
        kind.name: len(telling & _telling(f"{kind.name} {kind.means} {kind.advice}"))
        for kind in message_kinds()
    }
    best = max(message_kinds(), key=lambda kind: shared[kind.name])
    return best if shared[best.name] >= _ALIKE else None


def _telling(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z]+", text.lower()) if len(word) >= _TELLING}
