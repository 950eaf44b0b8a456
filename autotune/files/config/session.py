"""One reading of config files: resolves names and paths, reads each file once, and collects all
faults.
"""

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, cast

from autotune import paths
from autotune.errors import ConfigError, Fault, describe, nearest, unknown_name
from autotune.files.parsing import yaml_document
from autotune.files.parsing.yaml_document import Document, Keys

T = TypeVar("T")

_BELONGS = {
    "autotune.program": "a config names it, `program: FILE`; autotune init writes both",
    "autotune.machine": "a config names it, `machine: FILE`",
    "autotune.method": "a problem names it, `{ivp: NAME, method: FILE, ...}`",
    "autotune.ivp": "a problem names it, `{ivp: FILE, method: NAME, ...}`",
    "autotune.stencil": "a problem names it, `{stencil: FILE, size: 96}`",
    "autotune.skeleton": "a config names it, `skeleton: FILE`",
    "autotune.space": "a config names it, `space: FILE`",
    "autotune.reference": "a config names it, `reference: FILE`",
    "autotune.network": "a machine names it, `network: FILE`",
    "autotune.design": "autotune learn design reads it",
    "autotune.config": "autotune tune, rank and predict read it",
    "autotune.calibration": "autotune machine calibrate keeps it",
}
"""What a file is for that was given where another kind is read."""

_ALIKE = 0.7
"""How alike two names of files are, 0 to 1, of which one may be a slip of the other."""
_PLACE = re.compile(r"(.*?)(?::(\d+))?(?::(\d+))?")

KINDS: dict[paths.Collection, str] = {
    "machines": "machine",
    "configs": "config",
    "kernels/method": "method",
    "kernels/ivp": "ivp",
    "kernels/stencil": "stencil",
    "variants/skeleton": "skeleton",
    "variants/space": "space",
    "variants/program": "program",
    "benchmarks/published": "published table",
}


@dataclass(slots=True)
class Session:
    """Collects every fault of the files of one reading; ``finish`` raises them together."""

    faults: list[Fault] = field(default_factory=list)
    followed: int = 0
    """How many of the faults are those of named files, or of names without a file."""
    _done: dict[tuple[object, Path], object] = field(default_factory=dict)

    def add(self, where: str, found: str, expected: str = "", hint: str = "") -> None:
        """Note one fault."""
        self.faults.append(Fault(where=where, found=found, expected=expected, hint=hint))

    def finish(self) -> None:
        """Raise ConfigError with every fault, each listed once; do nothing where there is none."""
        if self.faults:
            raise ConfigError(*_in_order(self.faults))

    def once(self, path: Path, reader: "Callable[[Session, Path], T | None]") -> T | None:
        """The result of ``reader`` for a file; the file is read once, and later calls return the
        same value.
        """
        key = (reader, paths.absolute(path))
        if key not in self._done:
            self._done[key] = reader(self, path)
        return cast("T | None", self._done[key])

    def follow(
        self,
        document: Document,
        keys: Keys,
        collection: paths.Collection,
        reader: "Callable[[Session, Path], T | None]",
        name: str,
        also: tuple[str, ...] = (),
    ) -> T | None:
        """The content of the file that a document names at these keys, read by ``reader``; None
        with faults noted where there is no such file, or where it has faults.

        ``also`` is that of ``resolve``.
        """
        folder, where = document.path.parent, document.place(keys)
        path = self.resolve(name, collection, folder, where, also)
        return self.once(path, reader) if path else None

    def open(self, path: Path, schema: str) -> Document | None:
        """The document of a file with a schema such as ``autotune.ivp/1``; None with faults noted
        where it is wrong.
        """
        document = yaml_document.read(path, self.faults)
        if document is None or not self.check_schema(document, schema):
            return None
        del document.root["schema"]
        return document

    def check_schema(self, document: Document, schema: str) -> bool:
        """Whether a document has this schema; a fault is noted where it has not."""
        value = document.root.get("schema")
        where = (
            document.place(("schema",))
            if "schema" in document.root
            else f"{yaml_document.shown(document.path)}:1:1"
        )
        if value == schema:
            return True
        kind = schema.partition("/")[0]
        if "schema" not in document.root:
            hint = f"write `schema: {schema}` as first line"
            self.add(where, "the key 'schema' is missing", f"schema: {schema}", hint)
        elif isinstance(value, str) and value.partition("/")[0] == kind:
            version = value.partition("/")[2]
            self.add(where, f"version {version!r} of {kind} is not known", schema)
        else:
            hint = _BELONGS.get(str(value).partition("/")[0], "")
            self.add(where, f"the schema is {describe(value)}", schema, hint)
        return False

    def absent(self, name: str, names: list[str]) -> None:
        """Note as a fault that a file of this name does not exist; names are compared without
        their folders, and must be much alike.
        """
        stems = {Path(other).stem: other for other in reversed(names)}
        near = difflib.get_close_matches(Path(name).stem, stems, n=1, cutoff=_ALIKE)
        hint = f"did you mean {stems[near[0]]}?" if near else ""
        self.add(name, "there is no such file", hint=hint)

    def resolve(
        self,
        name: str,
        collection: paths.Collection,
        folder: Path,
        where: str = "",
        also: tuple[str, ...] = (),
    ) -> Path | None:
        """The file for a name in a collection, or for a path ending in .yaml relative to
        ``folder``.

        ``where`` is the place that a fault names; ``also`` are further names that are allowed and
        need no file. None with a fault noted where there is no file.
        """
        if name.endswith((".yaml", ".yml")):
            path = folder / name
            if paths.exists(path):
                return path
            folder = path.parent
            names = sorted(p.name for p in folder.glob("*.yaml")) if paths.exists(folder) else []
            found = f"there is no file {yaml_document.shown(path)!r}"
            self.add(where, found, hint=nearest(path.name, names))
            return None
        names = paths.names(collection)
        if name in names:
            return paths.folder(collection) / f"{name}.yaml"
        fault = unknown_name(where, KINDS[collection], name, [*also, *names])
        expected = f"{fault.expected}, or a path that ends in .yaml"
        self.add(where, fault.found, expected, fault.hint)
        return None


def _in_order(faults: list[Fault]) -> list[Fault]:
    """The faults, each listed once, by file in the order of reading and from top to bottom in each
    file.
    """
    files: dict[str, int] = {}

    def position(fault: Fault) -> tuple[int, int, int]:
        match = _PLACE.fullmatch(fault.where)
        file, line, column = match.groups() if match else (fault.where, None, None)
        return files.setdefault(file, len(files)), int(line or 0), int(column or 0)

    return sorted(dict.fromkeys(faults), key=position)
