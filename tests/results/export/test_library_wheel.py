"""The wheel of an exported library: built by pip, imported from where it was installed."""

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import made_library
import pytest
from made_library import facts_of, grid_facts_of

from autotune.results.export.library.library_facts import LibraryFacts
from autotune.results.export.library.sweep_facts import SweepFacts

SOLVED = """
import numpy, wave1d
with wave1d.Solver(300, threads=2) as solver:
    t, y = solver.initial()
    y, work = solver.solve(t, t + 0.5, y, rtol=1e-8, atol=1e-10)
    print(wave1d.__file__, numpy.isfinite(y).all(), work.accepted > 0)
"""
SWEPT = """
import numpy, star2d_5pt
with star2d_5pt.Grid((9, 19), threads=2) as grid:
    start = grid.initial()
    u = grid.sweep(start, 5)
    print(star2d_5pt.__file__, numpy.isfinite(u).all(), (u != start).any())
"""


def solver(folder: Path) -> LibraryFacts:
    """A library of a solver."""
    return facts_of(folder, "wave1d", [(1, {}), (2, {"inplace": True, "block": 128})])


def sweeps(folder: Path) -> SweepFacts:
    """A library of sweeps."""
    return grid_facts_of(folder, "star2d-5pt", [(1, {}), (2, {"t": 4})], [(9, 19), (11, 21)])


@pytest.mark.skipif(shutil.which("cmake") is None, reason="optional: needs cmake")
@pytest.mark.skipif(
    importlib.util.find_spec("scikit_build_core") is None,
    reason="optional: needs scikit-build-core",
)
@pytest.mark.parametrize(("make", "use"), [(solver, SOLVED), (sweeps, SWEPT)])
def test_pip_makes_a_wheel_of_it(
    make: Callable[[Path], LibraryFacts | SweepFacts], use: str, tmp_path: Path
) -> None:
    folder = made_library.written(tmp_path / "lib", make(tmp_path), made_library.unoptimised)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    wheels, place = tmp_path / "wheels", tmp_path / "installed"
    local = ["--no-index", "--no-deps"]
    subprocess.run(
        [*pip, "wheel", *local, "--no-build-isolation", "-w", wheels, folder],
        check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = wheels.iterdir()
    assert "-py3-none-" in wheel.name
    subprocess.run(
        [*pip, "install", *local, "--target", place, wheel], check=True, capture_output=True
    )
    shutil.rmtree(folder)
    done = subprocess.run(
        [sys.executable, "-c", use], env={"PYTHONPATH": str(place)}, capture_output=True, text=True
    )
    file, finite, done_something = done.stdout.split() or [done.stderr, "", ""]
    assert Path(file).is_relative_to(place)
    assert (finite, done_something) == ("True", "True")
