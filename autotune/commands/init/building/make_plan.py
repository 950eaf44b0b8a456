"""Projects with a Makefile: what ``make -n`` prints says what is built and which variables count.

Nothing is guessed from the text of the Makefile. A variable carries the flags if a mark in it
arrives in the calls of the compiler, and so does the compiler itself.
"""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autotune.commands.init.building.build_plan import (
    COPY,
    FLAGS,
    PARALLEL,
    BuildPlan,
    Choose,
    chosen_program,
    copied,
    default_compiler,
    refuse_large,
)
from autotune.commands.init.building.compile_lines import CompileLine, compile_lines
from autotune.commands.init.source_scan import COMPILED, LANGUAGES, Language
from autotune.commands.init.yaml_text import doubled, globbed
from autotune.errors import Fault, InputError, nearest
from autotune.toolchain import child_process
from autotune.toolchain import compiler as compilers
from autotune.toolchain.scratch_folder import temporary_folder

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_FLAG_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "C": ("CFLAGS",),
    "C++": ("CXXFLAGS", "CPPFLAGS", "CFLAGS"),
    "Fortran": ("FFLAGS", "FCFLAGS", "F90FLAGS", "FORTFLAGS"),
}
_OTHER_FLAGS = ("MOREFLAGS", "EXTRA_CFLAGS", "USERCFLAGS", "XCFLAGS", "OPTFLAGS", "OPT", "OPTIMIZE",
                "COPTS", "FLAGS", "CPPFLAGS")  # fmt: skip
_COMPILER_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "C": ("CC", "MPICC", "CCOMP"),
    "C++": ("CXX", "CCC", "CPP", "MPICXX", "CC"),
    "Fortran": ("FC", "F90", "F77", "MPIFC", "FORT"),
}
_MARK = "-DAUTOTUNE_MARK=1"
_VARIABLE = re.compile(r"^([A-Za-z_][\w.-]*) (?::{0,3}|\+|\?)= ?(.*)$", re.MULTILINE)
_TARGET = re.compile(r"^(?!# Not a target:\n)([A-Za-z][\w./-]*):(?!=)", re.MULTILINE)
_CODE = re.compile(
    r"\.(?:[chfFsSC]|cc|cpp|cxx|hh|hpp|hxx|inc|inl|ipp|f\d\d|F\d\d|mk|cmake|in|txt|def|tcc|asm|td|py|sh)"
)
_HASH = re.compile(r"[0-9a-f]{16,}")
_LIMIT = 60.0
"""Seconds of a dry run of make."""


@dataclass(slots=True)
class _DryRuns:
    """Dry runs of make in a copy of a project."""

    root: Path
    """The copy."""
    below: str
    """The folder of the Makefile, relative to the copy."""
    goals: tuple[str, ...]
    texts: dict[tuple[str, ...], str] = field(default_factory=dict)
    failed: str = ""
    """What make said where it failed; empty where it did not."""

    def text(self, *settings: str) -> str:
        """What make prints with variables set."""
        if settings not in self.texts:
            command = ["make", "-n", "-B", *settings, *self.goals]
            outcome = child_process.run(
                command,
                timeout=_LIMIT,
                environment=compilers.environment(),
                folder=self.root / self.below,
            )
            self.failed = "" if outcome.ok else outcome.describe()
            self.texts[settings] = outcome.out
        return self.texts[settings]

    def lines(self, *settings: str) -> list[CompileLine]:
        """The calls of compilers, with names relative to the folder of the Makefile."""
        return list(compile_lines(self.text(*settings), str(self.root / self.below)))


def make_plan(folder: Path, target: str, choose: Choose) -> BuildPlan:
    """The plan of the project in a folder, for one target or what the Makefile makes first.

    A Makefile that uses folders beside it is built within the folder above.
    """
    faults: list[str] = []
    for levels in range(3):
        root = folder if not levels else folder.parents[levels - 1]
        if levels and (root == Path(root.anchor) or root == Path.home()):
            break
        refuse_large(root)
        with temporary_folder() as scratch:
            copied(root, scratch / COPY)
            below = str(folder.relative_to(root))
            runs = _DryRuns(scratch / COPY, below, (target,) if target else ())
            lines = runs.lines()
            if not runs.failed and (programs := _programs(lines)):
                return _planned(root, runs, programs, target, choose)
            faults.append(runs.failed)
            if "../" not in runs.failed and not any(".." in s for li in lines for s in li.sources):
                break
    raise InputError(_no_program(folder, target, faults[0]))


def _programs(lines: Sequence[CompileLine]) -> list[str]:
    return [line.output for line in lines if line.links and not line.output.endswith(".o")]


def _planned(
    root: Path, runs: _DryRuns, programs: Sequence[str], target: str, choose: Choose
) -> BuildPlan:
    program = chosen_program(programs, target, "the Makefile", choose)
    remarks = []
    if len(set(programs)) > 1:
        rest = sorted(set(programs) - {program})
        remarks.append(f"make also builds {', '.join(rest[:8])}: --target NAME selects another")
    runs, program = _alone(runs, program)
    lines = runs.lines()
    compiled = [line for line in lines if line.sources]
    if not compiled:
        raise InputError(_no_program(runs.root / runs.below, target, "it compiles nothing"))
    language = _language(compiled)
    variables = dict(_VARIABLE.findall(_database(runs)))
    flags = _carriers(runs, compiled, variables)
    compiler = _compiler_variable(runs, compiled, language)
    base = _optimisation(compiled)
    defaults = {name: _without(variables.get(name, ""), base) for name in flags}
    settings = [f"{name}={doubled(text)} {FLAGS}".replace("= ", "=")
                for name, text in defaults.items()]  # fmt: skip
    if compiler:
        settings.append(f"{compiler}={{compiler}}")
    if not flags:
        remarks.append("no variable of the Makefile carries flags to its compiler")
    here = COPY if runs.below == "." else f"{COPY}/{runs.below}"
    files = tuple(dict.fromkeys(s for line in compiled for s in line.sources))
    return BuildPlan(
        folder=root,
        patterns=code_patterns(root),
        files=tuple(path for name in files if (path := root / runs.below / name).is_file()),
        includes=_header_folders(root, runs, compiled),
        commands=(
            ("cp", "-R", "{source folder}/.", COPY),
            ("make", "-B", PARALLEL, "-C", doubled(here), *settings, *map(doubled, runs.goals)),
            ("cp", doubled(f"{here}/{program}"), "{output}"),
        ),
        language=language,
        compiler=_installed(compiled, language) if compiler or flags else "",
        base=base,
        program=program,
        by="make",
        remarks=tuple(remarks),
    )


def _header_folders(
    root: Path, runs: _DryRuns, compiled: Sequence[CompileLine]
) -> tuple[Path, ...]:
    """The folders of a project in which its compiler looks for headers."""
    below = runs.root / runs.below
    names = (
        os.path.relpath(below / name, runs.root) for line in compiled for name in line.includes
    )
    return tuple(dict.fromkeys(root / name for name in names if not name.startswith("..")))


def _alone(runs: _DryRuns, program: str) -> tuple[_DryRuns, str]:
    """Dry runs that make one program only, and its name there; those of before where make cannot.

    Where the program lies in a folder with a Makefile of its own, that one is asked.
    """
    places, name = [(runs.below, program)], Path(program).name
    for above in Path(program).parents:
        folder = os.path.normpath(f"{runs.below}/{above}")
        if any((runs.root / folder / makefile).is_file() for makefile in MAKEFILES):
            places.append((folder, name))
    for folder, goal in places:
        alone = _DryRuns(runs.root, folder, (goal,))
        made = _programs(alone.lines())
        # a folder named by a hash of the flags has another name for other flags
        hashed = [p for p in made if Path(p).name == goal and _HASH.search(p)]
        if (goal in made or hashed) and not alone.failed:
            return alone, goal
    return runs, program


def _language(compiled: Sequence[CompileLine]) -> Language:
    """The language of most sources."""
    names = [LANGUAGES[Path(s).suffix] for line in compiled for s in line.sources]
    return max(COMPILED, key=names.count)


def _installed(compiled: Sequence[CompileLine], language: str) -> str:
    """The compiler that the project calls; the usual one for ``cc`` or one that is missing."""
    name = Path(compiled[0].compiler).name
    usual = name in ("cc", "c++", "f77", "c99", "c89") or not shutil.which(name)
    mpi = name.startswith("mpi")
    return default_compiler(language, mpi=mpi) if usual else name


def _optimisation(compiled: Sequence[CompileLine]) -> tuple[str, ...]:
    """The last -O flag of the calls."""
    flags = [word for line in compiled for word in line.words if re.fullmatch(r"-O\w*", word)]
    return (flags[-1],) if flags else ()


def _without(text: str, flags: Sequence[str]) -> str:
    """The value of a variable without flags that every build of the plan states itself."""
    for flag in flags:
        text = re.sub(rf"(?<!\S){re.escape(flag)}(?!\S)\s*", "", text)
    return text.rstrip()


def _database(runs: _DryRuns) -> str:
    """The variables of make, as it prints them."""
    return _DryRuns(runs.root, runs.below, runs.goals).text("-p")


def _carriers(
    runs: _DryRuns, compiled: Sequence[CompileLine], variables: Mapping[str, str]
) -> list[str]:
    """The fewest variables that carry flags to all calls, if possible; the usual ones first."""
    languages = {LANGUAGES[Path(s).suffix] for line in compiled for s in line.sources}
    usual = [name for language in COMPILED if language in languages
             for name in _FLAG_VARIABLES[language]]  # fmt: skip
    names = [*dict.fromkeys((*usual, *_OTHER_FLAGS))]
    wanted, chosen = {s for line in compiled for s in line.sources}, list[str]()
    for name in names:
        if name not in variables and name in _OTHER_FLAGS and name not in usual:
            continue
        marked = runs.lines(f"{name}={variables.get(name, '')} {_MARK}")
        reached = {s for line in marked if _MARK in line.words for s in line.sources}
        if reached & wanted:
            chosen.append(name)
            wanted -= reached
        if not wanted:
            break
    return chosen


def _compiler_variable(runs: _DryRuns, compiled: Sequence[CompileLine], language: str) -> str:
    """The variable that names the compiler of a language; empty if none does."""
    fitting = [
        line
        for line in compiled
        if any(LANGUAGES[Path(s).suffix] == language for s in line.sources)
    ]
    for name in _COMPILER_VARIABLES[language]:
        mark = "autotune-mark-gcc"
        marked = [line for line in runs.lines(f"{name}={mark}") if line.sources]
        calls = [line for line in marked if line.compiler == mark]
        if len(calls) >= len(fitting):
            return name
    return ""


def code_patterns(root: Path) -> tuple[str, ...]:
    """Patterns of the files that decide what is made: sources and descriptions of builds."""
    patterns, names = set[str](), set[str]()
    for path in root.rglob("*"):
        relative = path.relative_to(root)
        if any(part.startswith(".") for part in relative.parts) or not path.is_file():
            continue
        if _CODE.fullmatch(path.suffix):
            deep = "**/" if len(relative.parts) > 1 else ""
            patterns.add(f"{deep}*{path.suffix}")
        elif not path.suffix and ("makefile" in path.name.lower() or path.name == "configure"):
            names.add(globbed(str(relative)))
    patterns -= {pattern for pattern in patterns if f"**/{pattern}" in patterns}
    return (*sorted(names), *sorted(patterns))


def _no_program(folder: Path, target: str, reason: str) -> Fault:
    """Why make builds no program, with the targets that there are."""
    goals = _goals(folder)
    shown = ", ".join(goals[:12])
    if target and target not in goals:
        return Fault(
            where=str(folder),
            found=f"the Makefile has no target {target!r}",
            expected=f"one of {shown}",
            hint=nearest(target, goals),
        )
    words = f"make {target}".strip() + " builds no program" + (f": {reason}" if reason else "")
    return Fault(where=str(folder), found=words, hint=f"--target NAME selects another: {shown}")


def _goals(folder: Path) -> list[str]:
    """The targets that the Makefile of a folder states itself."""
    for name in MAKEFILES:
        if (folder / name).is_file():
            text = (folder / name).read_text(encoding="utf-8", errors="replace")
            return list(dict.fromkeys(_TARGET.findall(text)))
    return []
