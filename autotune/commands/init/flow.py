"""A first description of a program and a first config, written from what the program shows.

Both files are loaded before they are written, and the program is built and run as they say, unless
that is not wanted. What could not be seen is marked ``FILL IN``, what was guessed ``LOOK AT``.
"""

import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autotune import paths
from autotune.commands.init.building.build_plan import BuildPlan, Choose
from autotune.commands.init.building.project import plan_of
from autotune.commands.init.document import InitDocument, ReviewNote
from autotune.commands.init.first_draft import BASE, Draft
from autotune.commands.init.flag_draft import FlagDraft, tried_options
from autotune.commands.init.init_target import InitTarget, target_of
from autotune.commands.init.option_scan import level_options
from autotune.commands.init.source_scan import (
    COMPILED,
    SourceScan,
    scan_project,
    scan_source,
)
from autotune.commands.init.trying.first_try import TrySettings, first_try, usage_text
from autotune.commands.init.trying.other_values import try_other_values
from autotune.commands.init.trying.trial import trial_of
from autotune.commands.init.yaml_text import FILL_IN, LOOK_AT
from autotune.errors import Fault, InputError, one_of
from autotune.files import config
from autotune.progress import Progress, silent
from autotune.toolchain.gcc_options import gcc_of
from autotune.workloads.program.measuring import printed_output
from autotune.workloads.program.measuring.printed_output import UnreadableOutput
from autotune.workloads.program.program_workload import ProgramWorkload


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigRequest:
    """Which program to describe, and where to write the description."""

    program: Path | str
    """A file, a folder, or a command on PATH."""
    given: tuple[str, ...] = ()
    """Its command line, as far as it is told."""
    folder: Path = Path()
    name: str = ""
    """Empty: that of the program."""
    force: bool = False
    """Replace files that are there."""
    flags: str | None = None
    """The compiler whose options are tried and varied; None: none are."""
    target: str = ""
    """The program of a project that builds several; empty: the first, or what is chosen."""
    tried: TrySettings | None = None
    """How it is built and run; None: it is not."""


def first_answer(_question: str, _answers: Sequence[str]) -> int:
    """The first answer, where nobody can be asked."""
    return 0


def write(
    request: ConfigRequest, progress: Progress = silent, choose: Choose = first_answer
) -> InitDocument:
    """Write ``NAME.yaml`` and ``NAME-tune.yaml`` into a folder.

    Raises InputError if there is no program, if it cannot be built or does not run, if an output
    file exists already, or for options of a compiler that cannot be listed or of a program that is
    not compiled. Nothing is written then.
    """
    target = target_of(str(request.program), request.given)
    if target.path.is_dir():
        progress("look at it", 0, 1)
    planned = plan_of(target.path, request.target, choose)
    plan = planned if isinstance(planned, BuildPlan) else None
    path = plan.folder / plan.program if plan else Path(str(planned))
    seen = _seen(path, plan, target)
    name = request.name or re.sub(r"[^A-Za-z0-9._-]+|^[^A-Za-z0-9]+", "-", path.stem).strip("-")
    name = name or "program"
    files = (request.folder / f"{name}.yaml", request.folder / f"{name}-tune.yaml")
    _check_free(files, request.flags, force=request.force)
    glued = any(re.fullmatch(r"-[A-Za-z]\d+", word) for word in target.words)
    if request.tried is not None and glued and seen.language in ("executable", "script"):
        seen = replace(seen, levels=level_options(usage_text(path)))
    options = _options(request.flags, seen, progress)
    draft = Draft(path, request.folder, target.words, seen, options, plan=plan, ranks=target.ranks)
    if request.tried is not None:
        placed = paths.exists(path.parent) and not target.on_path
        beside = path.absolute().parent if placed else Path.cwd()
        tried = first_try(draft, request.tried, beside, choose, progress)
        tried = try_other_values(tried, request.tried.limit, progress)
        draft = tried.draft
        _check_readings(draft, tried.outcome)
    texts = (draft.program(name), draft.config(name))
    trial_of(draft)
    request.folder.mkdir(parents=True, exist_ok=True)
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
    return _document(draft, files, texts, target)


def _document(
    draft: Draft, files: tuple[Path, Path], texts: tuple[str, str], target: InitTarget
) -> InitDocument:
    """What was written, loaded once more from its place as the next command loads it."""
    program = ProgramWorkload(config.load(files[1])).program
    marks = {
        marker: tuple(m for f, t in zip(files, texts, strict=True) for m in _marks(f, t, marker))
        for marker in (FILL_IN, LOOK_AT)
    }
    options, observed = draft.options, draft.observed
    combinations = math.prod(map(len, program.domains.values()))
    study = min(combinations, draft.budget)
    slow = observed.slowness(study, combinations) if observed else ""
    clock = _cpu_time(draft)
    remarks = (*(draft.plan.remarks if draft.plan else ()), *draft.hints, clock, slow)
    return InitDocument(
        program=files[0],
        config=files[1],
        seen=draft.seen,
        compiler=draft.compiler,
        built_by=draft.plan.by if draft.plan else "",
        parameters=draft.parameters,
        options=options.options if options else tuple(draft.flag_set),
        left_out=options.left_out if options else {},
        kept=draft.kept,
        absolute_files=target.files,
        observed=draft.observed,
        remarks=tuple(filter(None, remarks)),
        combinations=combinations,
        fill_in=marks[FILL_IN],
        look_at=marks[LOOK_AT],
    )


def _seen(path: Path, plan: BuildPlan | None, target: InitTarget) -> SourceScan:
    """What the sources of a program show; InputError for a file that is no program."""
    if plan is not None:
        seen = scan_project(plan.language, plan.files, plan.includes)
        return replace(seen, mpi=plan.compiler.startswith("mpi") or seen.mpi)
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
    return replace(seen, mpi=True) if target.ranks else seen


def _cpu_time(draft: Draft) -> str:
    """What to know of a printed time that looks like CPU time; empty for others."""
    if draft.observed is None:
        timed = bool(draft.seen.time)
    else:
        timed = draft.observed.chosen is not None and draft.observed.chosen.kind != "rate"
    if not (draft.seen.cpu_clock and timed):
        return ""
    return (
        f"the printed time looks like CPU time ({draft.seen.cpu_clock} in the source): what it"
        " waits is not in it, nor what several threads gain"
    )


def _check_readings(draft: Draft, outcome: object) -> None:
    """Nothing is written whose time the tuner would not find in what the program printed."""
    program = trial_of(draft).program
    try:
        printed_output.values(program, outcome)  # type: ignore[arg-type]
    except UnreadableOutput as error:
        hint = "choose another line: --metric WORD, or --metric wall for the whole process"
        raise InputError(Fault(where=str(draft.path), found=str(error), hint=hint)) from error


def _options(name: str | None, seen: SourceScan, progress: Progress) -> FlagDraft | None:
    """The options of a compiler that build a program of this language; None without its name."""
    if name is None:
        return None
    if seen.language not in COMPILED:
        raise InputError(
            Fault(
                where="--flags",
                found=f"the program is {seen.language}: nothing is compiled",
                expected=f"a source file of {one_of(COMPILED)}",
            )
        )
    return tried_options(name, seen.language, BASE, progress)


def _check_free(files: Sequence[Path], compiler: str | None, *, force: bool) -> None:
    """InputError where files would be replaced without ``force``, or cannot be replaced; it names
    a compiler that is missing as well.
    """
    taken = [file for file in files if file.exists()]
    for file in taken:
        paths.check_output(file)
    if taken and not force:
        hint = "-o FOLDER writes elsewhere, --force replaces it"
        raise InputError(
            *(Fault(where=str(file), found="it is there already", hint=hint) for file in taken),
            *_missing(compiler),
        )


def _missing(compiler: str | None) -> tuple[Fault, ...]:
    """The fault of a compiler that is not installed; none without its name."""
    try:
        if compiler is not None:
            gcc_of(compiler, BASE)
    except InputError as error:
        return error.faults
    return ()


def _marks(file: Path, text: str, marker: str) -> list[ReviewNote]:
    return [
        ReviewNote(str(file), number, line.partition(marker)[2])
        for number, line in enumerate(text.splitlines(), 1)
        if marker in line
    ]
