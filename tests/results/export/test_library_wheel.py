"""The wheel of an exported library: built by pip, imported from where it was installed."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import made_library
import pytest
from made_library import facts_of

USE = """
import numpy, wave1d
with wave1d.Solver(300, threads=2) as solver:
    t, y = solver.initial()
    y, work = solver.solve(t, t + 0.5, y, rtol=1e-8, atol=1e-10)
    print(wave1d.__file__, numpy.isfinite(y).all(), work.accepted > 0)
"""


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")
@pytest.mark.skipif(
    importlib.util.find_spec("scikit_build_core") is None, reason="needs scikit-build-core"
)
def test_pip_makes_a_wheel_of_it(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, "wave1d", [(1, {}), (2, {"inplace": True, "block": 128})])
    folder = made_library.written(tmp_path / "lib", facts)
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
        [sys.executable, "-c", USE], env={"PYTHONPATH": str(place)}, capture_output=True, text=True
    )
    file, finite, steps = done.stdout.split() or [done.stderr, "", ""]
    assert Path(file).is_relative_to(place)
    assert (finite, steps) == ("True", "True")
