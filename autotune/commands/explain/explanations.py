"""What words of the output and messages of errors mean: two data files, and how they are asked."""

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources

from autotune.commands.machine.calibration_text import TITLES
from autotune.domain.calibration import CONSTANTS
from autotune.errors import Fault, InputError, nearest

_PART = re.compile(r"([a-z_]+)(?:=?\d+|[.@][\w.@]*)")
"""A parameter with its number, as in names of candidates, or a constant with its place."""
_FIGURE = re.compile(r"([^:,]+)(?:,[^:]*)?: \d.*\[.*")
"""A line about a constant of a calibration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GlossaryWord:
    """A word of the field with its meaning."""

    name: str
    also: tuple[str, ...] = ()
    """Further spellings."""
    printed: tuple[str, ...] = ()
    """Regular expressions that sentences of results about it contain."""
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
    """All words, in the order of the file, from the general to the particular; then those constants
    of a calibration that the file does not name.
    """
    words = [
        GlossaryWord(
            name=row["name"],
            also=tuple(row.get("also", ())),
            printed=tuple(row.get("printed", ())),
            text=row["text"],
            see=tuple(row.get("see", ())),
        )
        for row in _rows("glossary.toml", "words")
    ]
    spelled = {spelling for word in words for spelling in word.spellings}
    return *words, *(_constant_word(name) for name in CONSTANTS if name not in spelled)


def _constant_word(name: str) -> GlossaryWord:
    """The word of a constant, of its definition."""
    unit, definition = CONSTANTS[name]
    counted = {"cy": "cycles", "s": "seconds", "1": "a share"}.get(unit, unit)
    return GlossaryWord(
        name=name,
        also=() if TITLES[name] == name else (TITLES[name],),
        text=f"A constant of this host that calibration measures, in {counted}: {definition}.",
        see=("calibration",),
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
    meant = sentence_word(query) or message_kind(query)
    if meant is not None:
        return meant
    for form in (_PART, _FIGURE):
        if (named := form.fullmatch(plain)) and named[1] in words:
            return words[named[1]]
    raise InputError(
        Fault(
            where="",
            found=f"no word or message {' '.join(query.split())!r}",
            expected="a word of the output, or a message as it was printed",
            hint=nearest(plain, words) or _nearest_by_words(plain, words),
        )
    )


def sentence_word(sentence: str) -> GlossaryWord | None:
    """The word that a printed sentence of a result is about; None for other sentences."""
    text = " ".join(sentence.split())
    for word in glossary():
        if any(re.search(pattern, text) for pattern in word.printed):
            return word
    return None


def message_kind(message: str) -> MessageKind | None:
    """The kind of a message: the first whose pattern it contains; None where none does."""
    text = " ".join(message.split())
    for part in (re.sub(r"^(error|failed): ", "", text), text):
        for kind in message_kinds():
            if re.search(kind.pattern, part):
                return kind
    return None


def _nearest_by_words(sentence: str, words: Iterable[str]) -> str:
    """A hint with the longest word of the glossary that a sentence contains."""
    contained = [word for word in words if re.search(rf"\b{re.escape(word)}\b", sentence)]
    if not contained:
        return "autotune explain lists all words"
    return f"nearest: {max(contained, key=len)}"
