"""Builds and runs generated programs with plain gcc; every distinct unit is compiled once."""

import contextlib
import hashlib
import itertools
import os
import shutil
import subprocess
from collections.abc import Mapping
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


@dataclass
class Workshop:
    """A folder with programs by number, and one with objects by content, which others may share."""

    folder: Path
    shared: Path
    flags: tuple[str, ...] = ("-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-fopenmp")
    link: tuple[str, ...] = ()
    _number: itertools.count = field(default_factory=itertools.count)

    def build(self, units: Mapping[str, str], *extra: str) -> Path:
        headers = {name: text for name, text in units.items() if name.endswith(".h")}
        key = hashlib.sha256(repr(sorted(headers.items())).encode()).hexdigest()[:12]
        folder = self.folder / f"headers-{key}"
        if not folder.exists():
            scratch = self.folder / f"headers-{next(self._number)}.tmp"
            scratch.mkdir()
            for name, text in headers.items():
                (scratch / name).write_text(text)
            with contextlib.suppress(OSError):  # another thread was first
                scratch.replace(folder)
        objects = [
            self._object(name, text, folder, extra)
            for name, text in units.items()
            if name.endswith(".c")
        ]
        program = self.folder / f"program_{next(self._number)}"
        self._gcc(*extra, *map(str, objects), "-o", str(program), "-lm", *self.link)
        return program

    def _object(self, name: str, text: str, headers: Path, extra: tuple[str, ...]) -> Path:
        flags = (*extra, "-O0") if name == "step.c" and not extra else extra
        parts = [name, text, headers.name, *self.flags, *flags]
        key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
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
