"""Reads XML as a small tree, without document types, so that no entity is defined, expanded or
fetched.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from autotune.files.parsing.faults import Faults

_DEEPEST = 64
_MOST = 2_000_000
"""Elements: of measurements about 500000 rows."""


@dataclass(slots=True)
class Element:
    """An element with its attributes, its own text and its children."""

    tag: str
    attributes: Mapping[str, str]
    line: int
    pieces: list[str] = field(default_factory=list)
    """Of its text, as they were read."""
    children: "list[Element]" = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text of the element itself, without that of its children."""
        return "".join(self.pieces)

    def child(self, tag: str) -> "Element | None":
        """The first child with this tag; None where there is none."""
        return next((child for child in self.children if child.tag == tag), None)

    def content(self, tag: str) -> str:
        """The text of the first child with this tag, without surrounding blanks; empty where there
        is none.
        """
        child = self.child(tag)
        return child.text.strip() if child is not None else ""


Taker = Callable[[Element], None]


def parse(text: str, faults: Faults, take: Mapping[str, Taker] | None = None) -> Element:
    """The root of a document; elements with a tag in ``take`` are passed to its function and not
    kept.

    Raises InputError, with the line, for XML that is not well formed, for a document type (which
    could define entities) and for elements nested too deeply.
    """
    builder = _Builder(faults, take or {})
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.StartElementHandler = lambda tag, attributes: builder.start(
        tag, attributes, parser.CurrentLineNumber
    )
    parser.EndElementHandler = lambda _tag: builder.end()
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = lambda *_: builder.refuse(parser.CurrentLineNumber)
    try:
        parser.Parse(text.lstrip("\ufeff \t\r\n"), True)
    except expat.ExpatError as error:
        place = f"{error.lineno}:{error.offset + 1}"
        wrong = f"not well-formed XML: {expat.ErrorString(error.code)}"
        raise faults.fail(place, wrong, "a whole XML document", "cut off?") from error
    if builder.root is None:
        raise faults.fail("", "no element", "a whole XML document")
    return builder.root


class _Builder:
    """Builds elements while the parser reports their begins and ends."""

    def __init__(self, faults: Faults, take: Mapping[str, Taker]) -> None:
        self.root: Element | None = None
        self._faults = faults
        self._take = take
        self._open: list[Element] = []
        self._count = 0

    def start(self, tag: str, attributes: Mapping[str, str], line: int) -> None:
        if len(self._open) >= _DEEPEST:
            found = f"elements nested more than {_DEEPEST} levels deep"
            raise self._faults.fail(str(line), found, "measurements or a variability model")
        self._count += 1
        if self._count > _MOST:
            found = f"more than {_MOST} elements"
            raise self._faults.fail(str(line), found, "a random part of the measurements")
        element = Element(tag=tag, attributes=dict(attributes), line=line)
        if not self._open:
            self.root = element
        elif tag not in self._take:
            self._open[-1].children.append(element)
        self._open.append(element)

    def end(self) -> None:
        element = self._open.pop()
        taker = self._take.get(element.tag)
        if taker is not None and self._open:
            taker(element)

    def data(self, text: str) -> None:
        if self._open:
            self._open[-1].pieces.append(text)

    def refuse(self, line: int) -> None:
        hint = "delete the <!DOCTYPE ...> declaration"
        expected = "XML without one: entities are never expanded"
        raise self._faults.fail(str(line), "a document type declaration", expected, hint)
