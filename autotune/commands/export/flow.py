"""From a study in the store to a file for the application or for other tools."""

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from autotune.commands.export.document import ExportDocument
from autotune.commands.export.export_options import ExportRequest, Format
from autotune.commands.rank.study_setup import setup_of_study
from autotune.commands.tune.flow import study as load_study
from autotune.files.store import CandidateRecord, Store
from autotune.progress import Progress
from autotune.results.evaluate.study_evaluation import StudyEvaluation
from autotune.results.export import (
    choices,
    csv_export,
    export_files,
    header,
    parquet_export,
    readers,
    t4_export,
    wisdom,
)
from autotune.results.export.entries import Choices
from autotune.results.export.export_table import table
from autotune.results.export.library import library_files, library_kinds

ENDINGS: Mapping[Format, str] = {
    "header": ".h",
    "library": "-library",
    "wisdom": ".wisdom.json",
    "t4": "_T4.json",
    "csv": ".csv",
    "parquet": ".parquet",
}
"""What the name of a file ends in when none is given: behind the name of the study."""
KINDS: Mapping[Format, str] = {
    "header": "a header of autotune",
    "library": "a library of autotune",
    "wisdom": "a wisdom file of this version",
    "t4": "a T4 file of autotune",
    "csv": "a table of autotune",
    "parquet": "a Parquet table of autotune",
}

LIBRARY_TOP = 3
"""How many candidates of each problem and number of threads a library holds, unless told."""


def export(request: ExportRequest, store: str, progress: Progress) -> ExportDocument:
    """Write one file of a study, or the folder of a library.

    Raises InputError if nothing was measured, if no candidate ran (header, wisdom), or if something
    else stands at the output path; MissingTool if the format needs a package that is missing.
    """
    progress("read the study", 0, 2)
    result = load_study(request.study, store).evaluation
    content = _StoredStudy(result, charted(result, store))
    progress("read the study", 1, 2)
    path = request.output or Path(_file_name(result.study.name) + ENDINGS[request.format])
    with export_files.locked(path.parent):
        if not request.force:
            refuse = export_files.refuse_other
            if request.format == "library":
                refuse = export_files.refuse_other_folder
            refuse(path, KINDS[request.format], lambda: _is_own(request.format, path))
        done = _WRITERS[request.format](request, content, path)
    progress("read the study", 2, 2)
    if request.readers is None:
        return done
    return dataclasses.replace(done, readers=_readers(request.readers, force=request.force))


@dataclass(frozen=True, slots=True)
class _StoredStudy:
    """A study as it was read from the store, with the candidates of its decision maps."""

    result: StudyEvaluation
    charted: tuple[CandidateRecord, ...]
    """Candidates of the study's decision maps."""


def charted(result: StudyEvaluation, store: str) -> tuple[CandidateRecord, ...]:
    """The candidates of the decision maps of a study, which the study itself may lack."""
    cells = [entry for stored_map in result.study.maps for entry in stored_map.entries()]
    if not cells:
        return ()
    with Store.open(store, create=False) as results:
        return results.candidates(sorted({cell.candidate for cell in cells}))


def _file_name(study: str) -> str:
    return re.sub(r"[^\w.+-]+", "_", study).lstrip(".") or "study"


def _is_own(kind: Format, path: Path) -> bool:
    if kind == "parquet":
        return parquet_export.is_table_file(path)
    if kind == "library":
        return library_files.MARK in export_files.text_of(path / "README.md")
    text = export_files.text_of(path)
    return {
        "header": lambda: text.startswith(header.MARK),
        "wisdom": lambda: wisdom.is_wisdom(text),
        "t4": lambda: t4_export.is_own(text),
        "csv": lambda: csv_export.is_table_file(text),
    }[kind]()


def _header(request: ExportRequest, read: _StoredStudy, path: Path) -> ExportDocument:
    chosen_entries = choices.choices(read.result, request.problem, read.charted)
    export_files.write(path, header.write(chosen_entries).encode())
    return _chosen(request, path, chosen_entries)


def _wisdom(request: ExportRequest, read: _StoredStudy, path: Path) -> ExportDocument:
    chosen_entries = choices.choices(read.result, request.problem, read.charted)
    written = wisdom.write(chosen_entries, "" if request.force else export_files.text_of(path))
    export_files.write(path, written.text.encode())
    done = _chosen(request, path, chosen_entries)
    kept = (f"{written.kept} entries of {path} stay",) if written.kept else ()
    return dataclasses.replace(done, notes=(*done.notes, *kept), replaced=written.replaced)


def _library(request: ExportRequest, read: _StoredStudy, path: Path) -> ExportDocument:
    top = LIBRARY_TOP if request.top is None else request.top
    chosen_entries = choices.choices(read.result, request.problem, read.charted, top)
    study = read.result.study
    predicted = {
        stored.candidate: stored.prediction.seconds
        for stored in study.predictions
        if stored.prediction.seconds is not None
    }
    setup = setup_of_study(study, request.config)
    texts = library_kinds.files(chosen_entries, setup, predicted)
    if not request.force:
        export_files.refuse_other_library(path, texts)
    export_files.write_folder(path, texts)
    return _chosen(request, path, chosen_entries)


def _chosen(request: ExportRequest, path: Path, choices: Choices) -> ExportDocument:
    return ExportDocument(
        study=choices.study,
        format=request.format,
        file=path,
        rows=choices.entries,
        choices=choices,
        notes=choices.notes,
    )


def _t4(request: ExportRequest, read: _StoredStudy, path: Path) -> ExportDocument:
    problems = choices.selected(read.result, request.problem)
    text, notes = t4_export.write(read.result, problems)
    export_files.write(path, text.encode())
    rows = sum(row.measurement is not None for problem in problems for row in problem.rows)
    return ExportDocument(
        study=read.result.study.name, format="t4", file=path, rows=rows, notes=tuple(notes)
    )


def _csv(request: ExportRequest, read: _StoredStudy, path: Path) -> ExportDocument:
    rows = table(read.result, choices.selected(read.result, request.problem))
    export_files.write(path, csv_export.write(rows).encode("utf-8", "replace"))
    return ExportDocument(
        study=read.result.study.name, format="csv", file=path, rows=len(rows.rows)
    )


def _parquet(request: ExportRequest, read: _StoredStudy, path: Path) -> ExportDocument:
    rows = table(read.result, choices.selected(read.result, request.problem))
    export_files.write(path, parquet_export.write(rows))
    return ExportDocument(
        study=read.result.study.name, format="parquet", file=path, rows=len(rows.rows)
    )


_WRITERS: Mapping[Format, Callable[[ExportRequest, _StoredStudy, Path], ExportDocument]] = {
    "header": _header,
    "library": _library,
    "wisdom": _wisdom,
    "t4": _t4,
    "csv": _csv,
    "parquet": _parquet,
}


def _readers(folder: Path, *, force: bool) -> tuple[Path, ...]:
    """Write the source files that read wisdom files.

    InputError if a file of another kind would be replaced.
    """
    written = []
    with export_files.locked(folder):
        for name, content in readers.contents().items():
            path = folder / name
            if not force:
                export_files.refuse_other(
                    path,
                    "a reader of wisdom files",
                    lambda p=path, n=name: readers.is_reader(n, p.read_bytes()),  # type: ignore[misc]
                )
            export_files.write(path, content)
            written.append(path)
    return tuple(written)
