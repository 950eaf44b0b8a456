"""Models of external programs from YAML: the section ``model`` of autotune.program/1.

    model: {formula: "2 * n**3 / (threads * flops)", accuracy: 30 %}
    model: {kerncraft: "kernel-{variant}.c", constants: {N: n}, iterations: n * n}
    model: {kernel: {stencil: star3d-7pt, size: n, space: stencil-blocks, parameters: {bj: tile}}}
    model: {marked: matmul.c, loops: [{name: inner, iterations: n**3, streams: [...]}]}

Formulas name arguments, parameters and the figures of ``program_model.NAMES``. Files are those of
the source folder.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated

from pydantic import Discriminator, Field, Tag

from autotune.domain.program import BUILD_PLACES, NAME, Program, Template
from autotune.domain.program_model import (
    FACTS,
    NAMES,
    Access,
    FormulaModel,
    KerncraftModel,
    MarkedLoop,
    MarkedModel,
    ProgramModel,
    Stream,
    formulas,
)
from autotune.errors import nearest, one_of, unknown_name
from autotune.files.config.fields import Model, Text
from autotune.files.config.program_fields import (
    Element,
    Formula,
    Reuse,
    Share,
    Terms,
    Where,
    formula,
)
from autotune.files.config.program_kernels import KernelFile, kernel_model
from autotune.files.config.session import Session
from autotune.files.config.validation import tag
from autotune.files.config.yaml_document import Document, Keys, shown, text_of
from autotune.language.constraint import Condition, Value
from autotune.language.loop_marks import SUFFIXES, BadMark, Lines, marks

_ROUTES = ("formula", "kerncraft", "kernel", "marked")
_NOTHING, _ONE, _ALL = formula(0), formula(1), formula("threads")


class FormulaFile(Model):
    """Seconds as a formula, or several by name that are added up."""

    formula: Terms
    where: Where = Field(default_factory=dict)
    accuracy: Share = 0.3


class KerncraftFile(Model):
    """A kernel in kerncraft's C."""

    kerncraft: Text
    constants: dict[str, Formula] = Field(default_factory=dict)
    iterations: Formula = Field(description="of the innermost loop, of all threads, in a run")
    workers: Formula = _ALL
    extra: Formula = _NOTHING
    where: Where = Field(default_factory=dict)
    accuracy: Share = 0.2


class _Stream(Model):
    array: Text
    bytes: Formula = Field(description="of new cache lines per iteration")
    reuse: Reuse = Field(description="bytes touched between two uses of a line, or never")
    access: Access = "read"


class _Loop(Model):
    name: Text
    iterations: Formula = Field(description="of all threads, in a run")
    entries: Formula = _ONE
    workers: Formula = _ALL
    flops: Formula | None = None
    element: Element = 8
    streams: list[_Stream] = Field(default_factory=list)


class MarkedFile(Model):
    """Loops of the program's own source, marked by comments."""

    marked: Text
    loops: list[_Loop] = Field(min_length=1)
    compile: list[Text] = Field(default_factory=list)
    barriers: Formula = _NOTHING
    extra: Formula = _NOTHING
    where: Where = Field(default_factory=dict)
    accuracy: Share = 0.2


def _route(value: object) -> str:
    """Which model it is, by its keys."""
    keys = value if isinstance(value, dict) else {}
    return tag(next((name for name in _ROUTES if name in keys), "formula"))


ModelFile = Annotated[
    Annotated[FormulaFile, Tag(tag("formula"))]
    | Annotated[KerncraftFile, Tag(tag("kerncraft"))]
    | Annotated[KernelFile, Tag(tag("kernel"))]
    | Annotated[MarkedFile, Tag(tag("marked"))],
    Discriminator(_route),
]


def read_model(
    session: Session,
    document: Document,
    section: FormulaFile | KerncraftFile | KernelFile | MarkedFile,
    program: Program,
) -> ProgramModel | None:
    """The model of a program, checked against it and its files, or None and faults."""
    known = len(session.faults)
    reader = _Reader(session, document, program)
    try:
        made = reader.read(section)
    except ValueError as error:
        session.add(document.place(("model",)), str(error))
        return None
    if made is not None:
        reader.check_names(made)
    return made if len(session.faults) == known else None


class _Reader:
    """Reads the section ``model`` of one program."""

    def __init__(self, session: Session, document: Document, program: Program) -> None:
        self.session = session
        self.document = document
        self.program = program
        self.folder = Path(program.source_folder)

    def add(self, keys: Keys, found: str, expected: str = "", hint: str = "") -> None:
        self.session.add(self.document.place(("model", *keys)), found, expected, hint)

    def read(
        self, section: FormulaFile | KerncraftFile | KernelFile | MarkedFile
    ) -> ProgramModel | None:
        if isinstance(section, FormulaFile):
            return FormulaModel(
                terms=section.formula, where=section.where, accuracy=section.accuracy
            )
        if isinstance(section, KerncraftFile):
            return self._kerncraft(section)
        if isinstance(section, KernelFile):
            return kernel_model(self.session, self.document, section)
        return self._marked(section)

    def check_names(self, model: ProgramModel) -> None:
        """Formulas name nothing else than is known."""
        own = [*self.program.arguments, *self.program.parameters]
        for name, each in model.where.items():
            if not NAME.fullmatch(name) or name in own or name in NAMES:
                where = self.document.key(("model", "where", name))
                self.session.add(where, f"{name!r} cannot be such a name", "a new name")
            self._check_formula(("where", name), each, own)
            own.append(name)
        for keys, each in formulas(model):
            self._check_formula(keys, each, own)

    def _check_formula(self, keys: Keys, each: Condition, own: Sequence[str]) -> None:
        for name in each.names:
            if name not in own and name not in NAMES:
                expected = f"one of {', '.join([*own, *FACTS])}, cache_L1 ..., bandwidth_L1 ..."
                self.add(keys, f"unknown name {name!r}", expected, nearest(name, [*own, *NAMES]))

    # --- kerncraft ------------------------------------------------------------------------

    def _kerncraft(self, section: KerncraftFile) -> KerncraftModel | None:
        template = self._template(("kerncraft",), section.kerncraft, self.program.parameters)
        if template is None:
            return None
        parameters = self.program.parameters
        texts: dict[tuple[Value, ...], str] = {}
        for values in product(*(parameters[name] for name in template.names)):
            name = template.fill(dict(zip(template.names, values, strict=True)))
            text = None if name is None else self._text(("kerncraft",), name)
            if text is not None:
                texts[values] = text
        self._check_constants(section, texts.values())
        return KerncraftModel(
            file=section.kerncraft,
            names=template.names,
            texts=texts,
            constants=section.constants,
            iterations=section.iterations,
            workers=section.workers,
            extra=section.extra,
            where=section.where,
            accuracy=section.accuracy,
        )

    def _check_constants(self, section: KerncraftFile, texts: Iterable[str]) -> None:
        """Each size is one that a kernel names."""
        words = {word for text in texts for word in NAME.findall(text)}
        for name in section.constants if words else ():
            if name not in words:
                where = self.document.key(("model", "constants", name))
                found = f"no kernel of {section.kerncraft} names {name!r}"
                self.session.add(where, found, "a size in its text", nearest(name, words))

    def _template(self, keys: Keys, text: str, known: Mapping[str, object]) -> Template | None:
        """A template whose places are all known, or None and faults."""
        try:
            template = Template(text)
        except ValueError as error:
            self.add(keys, str(error))
            return None
        unknown = [name for name in template.names if name not in known]
        for name in unknown:
            where = self.document.place(("model", *keys))
            places = [f"{{{each}}}" for each in known]
            self.session.faults.append(unknown_name(where, "placeholder", f"{{{name}}}", places))
        return None if unknown else template

    def _text(self, keys: Keys, name: str) -> str | None:
        """The text of a file of the source folder."""
        path = self.folder / name
        if not path.is_file():
            near = nearest(name, sorted(p.name for p in path.parent.glob("*") if p.is_file()))
            self.add(keys, f"there is no file {shown(path)!r}", hint=near)
            return None
        return text_of(path, self.session.faults)

    # --- marked loops -----------------------------------------------------------------------

    def _marked(self, section: MarkedFile) -> MarkedModel | None:
        known = len(self.session.faults)
        if not section.marked.lower().endswith(SUFFIXES):
            found = f"marked loops are not read from {section.marked}"
            self.add(("marked",), found, f"C or C++: a file *{', *'.join(SUFFIXES)}")
            return None
        text = self._text(("marked",), section.marked)
        lines = self._marks(section.marked, text) if text is not None else {}
        for i, loop in enumerate(section.loops):
            if text is not None and loop.name not in lines:
                hint = nearest(loop.name, lines) or "a comment /* autotune: loop NAME */ marks one"
                found = f"no loop of {section.marked} is marked as {loop.name!r}"
                self.add(("loops", i, "name"), found, one_of(sorted(lines)), hint)
            if loop.name in [other.name for other in section.loops[:i]]:
                self.add(("loops", i, "name"), f"{loop.name!r} is described twice", "each once")
        compile_ = self._compile(section)
        if len(self.session.faults) > known:
            return None
        return MarkedModel(
            file=str((self.folder / section.marked).resolve()),
            lines={name: (found.first, found.last) for name, found in lines.items()},
            loops=tuple(_loop(loop) for loop in section.loops),
            compile=compile_,
            barriers=section.barriers,
            extra=section.extra,
            where=section.where,
            accuracy=section.accuracy,
        )

    def _marks(self, name: str, text: str) -> Mapping[str, Lines]:
        try:
            return marks(text)
        except BadMark as error:
            self.session.add(f"{shown(self.folder / name)}:{error.line}", str(error))
            return {}

    def _compile(self, section: MarkedFile) -> tuple[str, ...]:
        """Templates of the compiler's command line: as given, else that of the build."""
        own = {**self.program.parameters, **self.program.arguments}
        if section.compile:
            known = {**own, **dict.fromkeys(BUILD_PLACES)}
            for i, text in enumerate(section.compile):
                self._template(("compile", i), text, known)
            return tuple(section.compile)
        name = Path(section.marked).name
        for command in self.program.build:
            texts = tuple(template.text for template in command)
            if texts[0] == "{compiler}" and any(name in text for text in texts[1:]):
                return texts
        for command in self.program.build:
            if command[0].text == "{compiler}":
                return tuple(template.text for template in command)
        found = "the build has no command that begins with {compiler}"
        self.add(("marked",), found, "a key compile: the compiler's command line, as a list")
        return ()


def _loop(loop: _Loop) -> MarkedLoop:
    return MarkedLoop(
        name=loop.name,
        iterations=loop.iterations,
        entries=loop.entries,
        workers=loop.workers,
        flops=loop.flops,
        element=loop.element,
        streams=tuple(
            Stream(name=each.array, bytes=each.bytes, reuse=each.reuse, access=each.access)
            for each in loop.streams
        ),
    )
