"""Builds and runs generated programs with plain gcc; every distinct unit is compiled once."""

import contextlib
import hashlib
import itertools
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from autotune.codegen.c import harness
from autotune.codegen.tree import variant_program
from autotune.domain.problem import Problem
from autotune.domain.setup import Generated, Layout, Setup
from autotune.domain.variant import Build, Candidate, Transformation, Variant
from autotune.files import config
from autotune.measuring.verification import ivp_reference
from autotune.toolchain import mpi

COMPILER = shutil.which("gcc") or shutil.which("cc")
SKELETON = config.skeleton("pirk")
IVPS = ("heat2d", "inverterchain", "medakzo", "string-mix", "string-row", "wave1d")
FURTHER = (
    "advection", "brusselator2d", "brusselator2d-mix", "fitzhugh-nagumo", "flock", "heat3d",
)  # fmt: skip
"""IVPs that are run with some variants, not with all."""


def problem(ivp: str = "heat2d", size: int = 13, method: str = "radau-iia-7") -> Problem:
    tableau = config.method(method)
    return Problem(ivp=config.ivp(ivp), method=tableau, correctors=tableau.order - 1, size=size)


def setup(
    *problems: Problem, space: str = "pirk", threads: tuple[int | Literal["all"], ...] = (1,)
) -> Setup:
    return Setup(
        name="test",
        source="test.yaml",
        machine=None,
        problems=problems,
        subject=Generated(skeleton=SKELETON, space=config.generated(space).space),
        builds=(Build(),),
        layouts=tuple(Layout(threads=count) for count in threads),
    )


def variant(*transformations: Transformation) -> Variant:
    return Variant(skeleton="pirk", transformations=transformations, parameters={})


def sources(chosen: Variant | Candidate, at: Problem) -> dict[str, str]:
    made = chosen.variant if isinstance(chosen, Candidate) else chosen
    return harness.units(variant_program.program(made, SKELETON, at), at)


MOST_JOINT = 3
MOST_LETTERS = 4000
"""A sweep so short, in so many programs, is compiled in a unit with others, which takes a quarter
of the time of compiling it for itself."""


@dataclass
class Workshop:
    """A folder with programs by number, and one with objects by content, which others may share.

    A program is ``main.c``, compiled and linked once for all of its kind, and a shared library of
    its time step beside it: to link one takes a quarter of the time of linking a program.
    """

    folder: Path
    shared: Path
    flags: tuple[str, ...] = ("-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-fopenmp")
    link: tuple[str, ...] = ()
    _number: itertools.count = field(default_factory=itertools.count)
    _uses: Counter[str] = field(default_factory=Counter)

    def build(self, units: Mapping[str, str], *extra: str) -> Path:
        """The program of these units; with options of its own, an ordinary one."""
        headers = self._headers({n: text for n, text in units.items() if n.endswith(".h")})
        texts = {name: text for name, text in units.items() if name.endswith(".c")}
        place = self.folder / f"program_{next(self._number)}"
        place.mkdir()
        program = place / "program"
        if extra:
            objects = [self._object(name, text, headers, extra) for name, text in texts.items()]
            self._gcc(*extra, *map(str, objects), "-o", str(program), "-lm", *self.link)
            return program
        main = self._object("main.c", texts.pop("main.c"), headers, ("-fPIC",))
        step = place / "libstep.so"
        objects = self._step_objects(texts, headers)
        words = ["-shared", "-nostdlib", "-Wl,-soname,libstep.so"]
        self._gcc(*words, *map(str, objects), "-o", str(step))
        runnable = main.with_suffix(".main")
        if not runnable.exists():
            scratch = place / "scratch"
            words = ["-rdynamic", "-Wl,--no-as-needed,-rpath,$ORIGIN", str(main), str(step)]
            self._gcc(*words, "-o", str(scratch), "-lm", *self.link)
            scratch.replace(runnable)
        program.hardlink_to(runnable)
        return program

    def _headers(self, headers: Mapping[str, str]) -> Path:
        key = hashlib.sha256(repr(sorted(headers.items())).encode()).hexdigest()[:12]
        folder = self.folder / f"headers-{key}"
        if not folder.exists():
            scratch = self.folder / f"headers-{next(self._number)}.tmp"
            scratch.mkdir()
            for name, text in headers.items():
                (scratch / name).write_text(text)
            with contextlib.suppress(OSError):  # another thread was first
                scratch.replace(folder)
        return folder

    def _step_objects(self, texts: Mapping[str, str], headers: Path) -> list[Path]:
        """Short sweeps of few programs are one unit: most of their time is the start of the
        compiler. One that is long or returns often has an object of its own."""
        objects, joint = [], []
        for name, text in texts.items():
            flags = ("-fPIC", "-O0") if name == "step.c" else ("-fPIC",)
            key = self._key(name, text, headers, flags)
            self._uses[key] += 1
            built = (self.shared / f"{key}.o").exists()
            often = self._uses[key] > MOST_JOINT or len(text) > MOST_LETTERS
            if name == "step.c" or built or often:
                objects.append(self._object(name, text, headers, flags))
            else:
                joint.append(text)
        if joint:
            objects.append(self._object("sweeps.c", joined(joint), headers, ("-fPIC",)))
        return objects

    def _key(self, name: str, text: str, headers: Path, flags: tuple[str, ...]) -> str:
        parts = [name, text, headers.name, *self.flags, *flags]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]

    def _object(self, name: str, text: str, headers: Path, flags: tuple[str, ...]) -> Path:
        key = self._key(name, text, headers, flags)
        target = self.shared / f"{key}.o"
        if not target.exists():
            source = self.folder / f"{key}.c"
            source.write_text(text)
            scratch = self.folder / f"{key}.{next(self._number)}.tmp"
            self._gcc(*flags, "-I", str(headers), "-c", str(source), "-o", str(scratch))
            scratch.replace(target)
        return target

    def _gcc(self, *arguments: str) -> None:
        assert COMPILER
        done = subprocess.run(
            [COMPILER, *self.flags, *arguments], capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr


_MACRO = re.compile(r"^#define (\w+)", re.M)
_HELPER = re.compile(r"^static inline [^\n]*(?:\}|\n\{.*?^\})\n", re.M | re.S)


def joined(texts: Iterable[str]) -> str:
    """The texts one after the other; a function that several define stands there once."""
    helpers: set[str] = set()

    def first(match: re.Match[str]) -> str:
        new = match[0] not in helpers
        helpers.add(match[0])
        return match[0] if new else ""

    parts = []
    for text in texts:
        names = _MACRO.findall(text)
        parts += [_HELPER.sub(first, text), *(f"#undef {name}" for name in names)]
    return "\n".join([*parts, ""])


def run(program: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(program), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "OMP_WAIT_POLICY": "passive", **environment},
    )


_STATES: dict[tuple[str, int], np.ndarray] = {}


def reference(at: Problem, steps: int) -> np.ndarray:
    """The state of the reference after some steps, computed once for problems of equal keys."""
    if (at.key, steps) not in _STATES:
        expected = ivp_reference.integrate(at, steps)
        expected.flags.writeable = False
        _STATES[at.key, steps] = expected
    return _STATES[at.key, steps]


def common(at: Problem, threads: int) -> list[str]:
    return ["--size", str(at.size), "--n", str(at.n), "--h", at.h.hex(), "--threads", str(threads)]


def state(program: Path, at: Problem, threads: int, steps: int) -> np.ndarray:
    out = program.with_suffix(f".{threads}.bin")
    done = run(program, "verify", *common(at, threads), "--steps", str(steps), "--out", str(out))
    assert done.returncode == 0, done.stderr
    found = np.fromfile(out, dtype="<f8")
    out.unlink()
    return found


def launch(
    path: Path, ranks: int, threads: int, arguments: list[str], **environment: str
) -> subprocess.CompletedProcess[str]:
    found = mpi.find()
    start = mpi.launch_template(found, ranks, threads=threads).replace("{command}", "").split()
    with mpi.scratch(found) as folders:
        return subprocess.run(
            [*start, str(path), *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={
                **os.environ,
                "OMP_WAIT_POLICY": "passive",
                **mpi.environment(found, ranks, threads=threads, alone=False),
                **folders,
                **environment,
            },
        )
