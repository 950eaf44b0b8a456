"""Libraries made from candidates of a small study, built as a user builds them."""

import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType

import codegen_build
import pytest
from exported_entries import choices, entry

from autotune.domain.setup import Setup
from autotune.domain.variant import Build, Communication, ExecutionLayout, Value
from autotune.files.config import load
from autotune.results.export.entries import Choices, EntryMachine, ExportSubject, SectionKey
from autotune.results.export.library import library_facts, library_files, sweep_facts, sweep_files
from autotune.results.export.library.library_facts import LibraryFacts
from autotune.results.export.library.sweep_facts import SweepFacts

STRICT = "-Wall -Wextra -Werror"
PLAIN: Mapping[str, Value] = {
    "order": "jli", "au": False, "tile": None, "rhslc": False, "jam": None, "block": None,
    "strip": None, "reg": False, "once": False, "inplace": False, "stream": False, "flags": False,
    "align": None, "simd": None, "lines": None, "ahead": None, "pad": 5,
}  # fmt: skip
"""The parameters of the space pirk-time for its simplest variant."""
PLAIN_SWEEP: Mapping[str, Value] = {
    "t": 1, "tiles": False, "bk": None, "bj": None, "bi": None, "u": 1, "nt": False, "pad": 1,
}  # fmt: skip
"""The same of the spaces of stencils."""


_SWEEP = re.compile(r" -c (?P<place>src/\w+)/(?P<name>sweep_\w+\.c) ")
_SWEEPS = "sweeps.c"


def need_openmp(compiler: str, *flags: str) -> None:
    """Skip the test where a compiler is absent or builds no program with OpenMP and these flags."""
    if not _builds_openmp(compiler, flags):
        pytest.skip(f"optional: {' '.join((compiler, *flags))} with OpenMP is not installed")


@cache
def _builds_openmp(compiler: str, flags: tuple[str, ...]) -> bool:
    if shutil.which(compiler) is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        probe = Path(folder, "probe.c")
        probe.write_text("#include <omp.h>\nint main(void) { return omp_get_num_procs() < 1; }\n")
        words = [compiler, *flags, "-fopenmp", probe, "-o", Path(folder, "probe")]
        return subprocess.run(words, capture_output=True).returncode == 0


def setup(folder: Path, ivp: str, sizes: Sequence[int], *, method: str, correctors: int) -> Setup:
    """A config with one IVP at some sizes, in the space pirk-time or, without correctors, erk."""
    skeleton, space = ("pirk", "pirk-time") if correctors else ("erk", "erk")
    m = f"correctors: {correctors}, " if correctors else ""
    problems = [f"{{ivp: {ivp}, method: {method}, {m}size: {size}}}" for size in sizes]
    return _loaded(folder, skeleton, space, problems)


def grid_setup(folder: Path, stencil: str, grids: Sequence[Sequence[int]], space: str) -> Setup:
    """A config with one stencil on some grids, whose extents are K, J, I or J, I."""
    skeleton = "gauss-seidel" if space == "gauss-seidel" else "jacobi"
    problems = []
    for grid in grids:
        extents = ", ".join(f"{d}: {n}" for d, n in zip("kji"[-len(grid) :], grid, strict=True))
        problems.append(f"{{stencil: {stencil}, grid: {{{extents}}}}}")
    return _loaded(folder, skeleton, space, problems)


def _loaded(folder: Path, skeleton: str, space: str, problems: Sequence[str]) -> Setup:
    path = folder / "library.yaml"
    path.write_text(
        f"schema: autotune.config/1\nmachine: host\nskeleton: {skeleton}\nspace: {space}\n"
        "problems:\n" + "".join(f"  - {problem}\n" for problem in problems)
    )
    return load(path)


Ranks = Sequence[tuple[int, Communication]]
"""MPI ranks of each choice, and how they communicate."""


def chosen(
    made: Setup,
    variants: Sequence[tuple[int, Mapping[str, Value]]],
    plain: Mapping[str, Value] = PLAIN,
    ranks: Ranks = (),
) -> Choices:
    """One choice for each (threads, parameters that are not those of ``plain``); the first is of
    the first problem of the config, and so on around. ``ranks``: of each; empty: all of one.
    """
    pairs = []
    for place, (threads, values) in enumerate(variants):
        count, way = ranks[place] if ranks else (1, "none")
        problem = made.problems[place % len(made.problems)]
        facts = problem.facts()
        key = SectionKey(
            place=EntryMachine(identity="abc", name="host", title="A processor (made up)"),
            subject=ExportSubject(
                id=facts.id,
                name=facts.name,
                family=problem.family,
                definition=facts.key.split()[0],
                size=facts.size_words,
            ),
            ranks=count,
        )
        made_entry = entry(
            problem.n,
            threads,
            problem=problem.label,
            candidate=f"v{place}@{problem.label}:{place:012x}",
            variant=f"v{place}",
            parameters={name: values.get(name, plain.get(name)) for name in made.space.parameters},
            build=Build(compiler="gcc", flags=("-O2",)),
            layout=ExecutionLayout(threads=threads, ranks=count, communication=way),
        )
        pairs.append((key, made_entry))
    return choices(pairs)


def facts_of(
    folder: Path,
    ivp: str,
    variants: Sequence[tuple[int, Mapping[str, Value]]],
    *,
    sizes: Sequence[int] = (100, 200, 500, 1000),
    method: str = "radau-iia-5",
    correctors: int = 4,
    ranks: Ranks = (),
) -> LibraryFacts:
    """The facts of a library with these variants of an IVP."""
    made = setup(folder, ivp, sizes, method=method, correctors=correctors)
    return library_facts.gather(chosen(made, variants, ranks=ranks), made, {})


def grid_facts_of(
    folder: Path,
    stencil: str,
    variants: Sequence[tuple[int, Mapping[str, Value]]],
    grids: Sequence[Sequence[int]],
    space: str = "stencil-time",
) -> SweepFacts:
    """The facts of a library with these variants of a stencil."""
    made = grid_setup(folder, stencil, grids, space)
    return sweep_facts.gather(chosen(made, variants, PLAIN_SWEEP), made, {})


def built(
    folder: Path,
    facts: LibraryFacts | SweepFacts,
    *,
    compiler: str = "gcc",
    flags: str = STRICT,
    optimised: bool = True,
    calls: bool = True,
    edited: Callable[[dict[str, str]], Mapping[str, str]] = lambda files: files,
    mpicc: str = "mpicc",
) -> Path:
    """The folder of the library, written, edited and built by its ``build.sh``.

    ``optimised``: otherwise with -O0 in place of each level, where only results are tested.
    ``calls``: otherwise only the loops are optimised, not the calls between them (``step.c`` and
    ``fixed_step.c``) and the solver around them.
    Without either the sweeps of one variant are compiled as one file.
    """
    written(folder, facts, edited)
    if not (optimised and calls):
        _simplify(folder, r"/(fixed_)?step\.c |^exact=" if optimised else "")
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "CC": compiler, "CFLAGS": flags}
    environment |= {"MPICC": mpicc, "HOME": str(folder)}  # without one Open MPI 5 compiles nothing
    done = subprocess.run(
        ["sh", "build.sh"], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return folder


def _simplify(folder: Path, plain: str) -> None:
    """Let ``build.sh`` compile the sweeps of one variant together, and what the lines that match
    ``plain`` compile without optimisation."""
    script = folder / "build.sh"
    sweeps: dict[Path, list[str]] = {}
    lines = []
    for line in script.read_text().splitlines(keepends=True):
        if sweep := _SWEEP.search(line):
            place = folder / sweep["place"]
            texts = sweeps.setdefault(place, [])
            texts.append((place / sweep["name"]).read_text())
            line = line.replace(sweep["name"], _SWEEPS)
            if len(texts) > 1:
                continue
        lines.append(re.sub(r"-O[23]\b", "-O0", line) if re.search(plain, line) else line)
    for place, texts in sweeps.items():
        (place / _SWEEPS).write_text(codegen_build.joined(texts))
    script.write_text("".join(lines))


def unoptimised(files: dict[str, str]) -> Mapping[str, str]:
    """The files that build a library, with -O0 in place of -O2 and -O3."""
    made = {name: re.sub(r"-O[23]\b", "-O0", text) for name, text in files.items()}
    assert all(made[name] != files[name] for name in ("build.sh", "CMakeLists.txt", "meson.build"))
    return made


def written(
    folder: Path,
    facts: LibraryFacts | SweepFacts,
    edited: Callable[[dict[str, str]], Mapping[str, str]] = lambda files: files,
) -> Path:
    """The folder of the library with its files edited, not yet built."""
    files = (
        sweep_files.files(facts) if isinstance(facts, SweepFacts) else library_files.files(facts)
    )
    for name, text in edited(files).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@contextmanager
def imported(folder: Path, name: str, patch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The Python module of a library that was built."""
    patch.setenv(f"{name.upper()}_LIBRARY", str(folder / f"lib{name}.so"))
    path = folder / "python" / name / "__init__.py"
    spec = importlib.util.spec_from_file_location(f"{name}_of_{folder.name}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules[spec.name]
