"""A first description of a program and a first config, written from what the program shows.

Both files can be loaded without changes. What could not be seen is marked ``FILL IN``, what was
guessed ``LOOK AT``.
"""

import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autotune import paths
from autotune.commands.init.document import InitDocument, ReviewNote
from autotune.commands.init.first_draft import FILL_IN, LOOK_AT, Draft
from autotune.commands.init.source_scan import COMPILED, scan_source
from autotune.errors import Fault, InputError, nearest
from autotune.files import config
from autotune.workloads.program.program_workload import ProgramWorkload


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigRequest:
    """Which program to describe, and where to write the description."""

    program: Path
    given: tuple[str, ...] = ()
    """Its command line, as far as it is told."""
    folder: Path = Path()
    name: str = ""
    """Empty: that of the program."""
    force: bool = False
    """Replace files that are there."""


def write(request: ConfigRequest) -> InitDocument:
    """Write ``NAME.yaml`` and ``NAME-tune.yaml`` into a folder; the program is not run.

    Raises InputError if the file is not a program, or if an output file exists already.
    """
    path = request.program
    if not path.is_file():
        near = nearest(path.name, (p.name for p in path.parent.glob("*") if p.is_file()))
        kind = "is a folder" if path.is_dir() else "does not exist"
        raise InputError(
            Fault(
                where=str(path),
                found=f"it {kind}",
                expected="a source file or an executable",
                hint=near,
            )
        )
    try:
        seen = scan_source(path)
    except OSError as error:
        fault = Fault(where=str(path), found=f"it cannot be read: {error.strerror}")
        raise InputError(fault) from error
    if seen.language not in (*COMPILED, "Python") and not os.access(path, os.X_OK):
        fault = Fault(
            where=str(path),
            found="it is neither a known kind of source nor executable",
            expected="a .c, .cpp, .f90 or .py file, or an executable",
        )
        raise InputError(fault)
    name = request.name or re.sub(r"[^A-Za-z0-9._-]+|^[^A-Za-z0-9]+", "-", path.stem).strip("-")
    name = name or "program"
    files = (request.folder / f"{name}.yaml", request.folder / f"{name}-tune.yaml")
    _check_free(files, force=request.force)
    draft = Draft(path, request.folder, request.given, seen)
    texts = (draft.program(name), draft.config(name))
    request.folder.mkdir(parents=True, exist_ok=True)
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
    program = ProgramWorkload(config.load(files[1])).program
    marks = {
        marker: tuple(m for f, t in zip(files, texts, strict=True) for m in _marks(f, t, marker))
        for marker in (FILL_IN, LOOK_AT)
    }
    return InitDocument(
        program=files[0],
        config=files[1],
        seen=seen,
        compiler=draft.compiler,
        parameters=draft.parameters,
        combinations=math.prod(map(len, program.domains.values())),
        fill_in=marks[FILL_IN],
        look_at=marks[LOOK_AT],
    )


def _check_free(files: Sequence[Path], *, force: bool) -> None:
    """InputError where files would be replaced without ``force``, or cannot be replaced."""
    taken = [file for file in files if file.exists()]
    for file in taken:
        paths.check_output(file)
    if taken and not force:
        hint = "--force replaces it"
        raise InputError(
            *(Fault(where=str(file), found="it is there already", hint=hint) for file in taken)
        )


def _marks(file: Path, text: str, marker: str) -> list[ReviewNote]:
    return [
        ReviewNote(str(file), number, line.partition(marker)[2])
        for number, line in enumerate(text.splitlines(), 1)
        if marker in line
    ]
