"""Models of external programs from YAML: the section ``model`` of autotune.program/1.

    model: {formula: "2 * n**3 / (threads * flops)", accuracy: 30 %}
    model: {kerncraft: "kernel-{variant}.c", constants: {N: n}, iterations: n * n}
    model: {kernel: {stencil: star3d-7pt, size: n, space: stencil-blocks, parameters: {bj: tile}}}
    model: {marked: matmul.c, loops: [{name: inner, iterations: n**3, streams: [...]}]}
    model: {assertions: cg.json, ranks: ranks, bind: {na: n, npcols: columns}}

Formulas name arguments, parameters and the figures of ``program_model.NAMES``. Files are those of
the source folder.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

from autotune import paths
from autotune.domain.assertion_model import MODEL_SCHEMA, AssertionModel
from autotune.domain.program import BUILD_PLACES, NAME, Program, Template
from autotune.domain.program_model import (
    FACTS,
    NAMES,
    AssertedModel,
    FormulaModel,
    KerncraftModel,
    KernelModel,
    MarkedModel,
    ProgramModel,
    formulas,
)
from autotune.errors import nearest, unknown_name
from autotune.files import codec
from autotune.files.config.facts import FORMS, FactReader, FileForm, altered, settle
from autotune.files.config.program.program_kernels import complete_kernel
from autotune.files.config.session import Session
from autotune.files.parsing.yaml_document import Document, Keys, shown, text_of
from autotune.language.constraint import Condition, Value
from autotune.language.loop_marks import SUFFIXES, BadMark, Lines, marks

_ROUTES: dict[str, type[ProgramModel]] = {
    "formula": FormulaModel,
    "kerncraft": KerncraftModel,
    "kernel": KernelModel,
    "marked": MarkedModel,
    "assertions": AssertedModel,
}
"""The models by the key that tells one from another."""


def _read_model(reader: FactReader, value: object, keys: Keys) -> object:
    """The draft of a model; its keys decide which kind of model it is."""
    present = value if isinstance(value, dict) else {}
    route = next((name for name in _ROUTES if name in present), "formula")
    return reader.record(_ROUTES[route], value, keys, {})


FORMS[ProgramModel] = FileForm(
    _read_model, lambda of: {"anyOf": [of(model) for model in _ROUTES.values()]}
)


def complete_model(
    session: Session, document: Document, stated: ProgramModel, program: Program
) -> ProgramModel | None:
    """The model for a draft, checked against its program and files; None with faults noted where it
    is wrong.
    """
    faults_before = len(session.faults)
    reader = _Reader(session, document, program)
    model = reader.complete(stated)
    if model is not None:
        model = settle(session, document, model, ("model",))
    if model is not None:
        reader.check_names(model)
    return model if len(session.faults) == faults_before else None


class _Reader:
    """Reads the section ``model`` of one program."""

    def __init__(self, session: Session, document: Document, program: Program) -> None:
        self.session = session
        self.document = document
        self.program = program
        self.folder = Path(program.source_folder)

    def add(self, keys: Keys, found: str, expected: str = "", hint: str = "") -> None:
        self.session.add(self.document.place(("model", *keys)), found, expected, hint)

    def complete(self, stated: ProgramModel) -> ProgramModel | None:
        """The draft completed from its files; None with faults noted where they are wrong."""
        match stated:
            case KerncraftModel():
                return self._kerncraft(stated)
            case KernelModel():
                return complete_kernel(self.session, self.document, stated)
            case MarkedModel():
                return self._marked(stated)
            case AssertedModel():
                return self._asserted(stated)
            case _:
                return stated

    def check_names(self, model: ProgramModel) -> None:
        """Check that formulas use only known names."""
        names = [*self.program.arguments, *{**self.program.parameters, **self.program.domains}]
        for name, formula in model.where.items():
            if not NAME.fullmatch(name) or name in names or name in NAMES:
                where = self.document.key(("model", "where", name))
                self.session.add(where, f"{name!r} cannot be such a name", "a new name")
            self._check_formula(("where", name), formula, names)
            names.append(name)
        for keys, formula in formulas(model):
            self._check_formula(keys, formula, names)

    def _check_formula(self, keys: Keys, formula: Condition, names: Sequence[str]) -> None:
        for name in formula.names:
            if name not in names and name not in NAMES:
                expected = f"one of {', '.join([*names, *FACTS])}, cache_L1 ..., bandwidth_L1 ..."
                self.add(keys, f"unknown name {name!r}", expected, nearest(name, [*names, *NAMES]))

    # --- kerncraft ------------------------------------------------------------------------

    def _kerncraft(self, stated: KerncraftModel) -> KerncraftModel | None:
        template = self._template(("kerncraft",), stated.file, self.program.domains)
        if template is None:
            return None
        texts = self._texts(("kerncraft",), template)
        self._check_constants(stated, texts.values())
        return altered(stated, names=template.names, texts=texts)

    def _texts(self, keys: Keys, template: Template) -> dict[tuple[Value, ...], str]:
        """The texts of files by the values of the parameters that their names hold."""
        texts: dict[tuple[Value, ...], str] = {}
        for values, name in self._files(template):
            text = self._text(keys, name)
            if text is not None:
                texts[values] = text
        return texts

    def _files(self, template: Template) -> Iterator[tuple[tuple[Value, ...], str]]:
        """The names of files, with the values of the parameters that they hold."""
        for values in product(*(self.program.domains[name] for name in template.names)):
            name = template.fill(dict(zip(template.names, values, strict=True)))
            if name is not None:
                yield values, name

    def _check_constants(self, stated: KerncraftModel, texts: Iterable[str]) -> None:
        """Check that each size is named by some kernel text."""
        words = {word for text in texts for word in NAME.findall(text)}
        for name in stated.constants if words else ():
            if name not in words:
                where = self.document.key(("model", "constants", name))
                found = f"no kernel of {stated.file} names {name!r}"
                self.session.add(where, found, "a size in its text", nearest(name, words))

    def _template(self, keys: Keys, text: str, allowed: Mapping[str, object]) -> Template | None:
        """A template whose placeholders are all known; None with faults noted otherwise."""
        try:
            template = Template(text)
        except ValueError as error:
            self.add(keys, str(error))
            return None
        unknown = [name for name in template.names if name not in allowed]
        for name in unknown:
            where = self.document.place(("model", *keys))
            places = [f"{{{placeholder}}}" for placeholder in allowed]
            self.session.faults.append(unknown_name(where, "placeholder", f"{{{name}}}", places))
        return None if unknown else template

    def _text(self, keys: Keys, name: str) -> str | None:
        """The text of a file in the source folder; None with faults noted where it
        cannot be read.
        """
        path = self.folder / name
        if not (paths.exists(path) and path.is_file()):
            beside = path.parent.glob("*") if paths.exists(path.parent) else ()
            near = nearest(name, sorted(p.name for p in beside if p.is_file()))
            self.add(keys, f"there is no file {shown(path)!r}", hint=near)
            return None
        return text_of(path, self.session.faults)

    # --- assertions -------------------------------------------------------------------------

    def _asserted(self, stated: AssertedModel) -> AssertedModel | None:
        keys = ("assertions",)
        template = self._template(keys, stated.file, self.program.domains)
        if template is None:
            return None
        models: dict[tuple[Value, ...], AssertionModel] = {}
        for values, text in self._texts(keys, template).items():
            try:
                models[values] = codec.load(AssertionModel, text)
            except (ValueError, RecursionError) as error:
                name = dict(self._files(template))[values]
                self.add(keys, f"{name}: {error}", f"a model in JSON, {MODEL_SCHEMA}")
        places = {v: str(paths.absolute(self.folder / n)) for v, n in self._files(template)}
        return altered(stated, names=template.names, models=models, paths=places)

    # --- marked loops -----------------------------------------------------------------------

    def _marked(self, stated: MarkedModel) -> MarkedModel | None:
        faults_before = len(self.session.faults)
        if not stated.file.lower().endswith(SUFFIXES):
            found = f"marked loops are not read from {stated.file}"
            self.add(("marked",), found, f"C or C++: a file *{', *'.join(SUFFIXES)}")
            return None
        text = self._text(("marked",), stated.file)
        lines = self._marks(stated.file, text) if text is not None else {}
        compile_ = self._compile(stated)
        if len(self.session.faults) > faults_before:
            return None
        return altered(
            stated,
            file=str(paths.absolute(self.folder / stated.file)),
            lines={name: (at.first, at.last) for name, at in lines.items()},
            compile=compile_,
        )

    def _marks(self, name: str, text: str) -> Mapping[str, Lines]:
        try:
            return marks(text)
        except BadMark as error:
            self.session.add(f"{shown(self.folder / name)}:{error.line}", str(error))
            return {}

    def _compile(self, stated: MarkedModel) -> tuple[str, ...]:
        """The templates of the compiler's command line: the stated ones, else those of
        the build.
        """
        program_names = {
            **self.program.parameters,
            **self.program.domains,
            **self.program.arguments,
        }
        if stated.compile:
            allowed = {**program_names, **dict.fromkeys(BUILD_PLACES)}
            for i, text in enumerate(stated.compile):
                self._template(("compile", i), text, allowed)
            return stated.compile
        name = Path(stated.file).name
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
