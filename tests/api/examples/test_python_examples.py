"""The notebook and the GPU program of ``examples`` run as they stand there."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autotune.files.store import Store

ROOT = Path(__file__).parents[3]
GPU = ROOT / "examples/gpu/tune_stencil.py"
NVCC = """#!{python}
import re, sys
macros = dict(re.findall(r"-D(\\w+)=(\\d+)", " ".join(sys.argv)))
if macros["ROWS"] == "8":
    sys.exit("ptxas error : too many registers")
took = 0.5 + abs(int(macros["BLOCK_X"]) - 64) / 100 + abs(int(macros["BLOCK_Y"]) - 4) / 10
took += int(macros["ROWS"]) / 50
program = open(sys.argv[sys.argv.index("-o") + 1], "w")
code = {code}
program.write(f"#!/bin/sh\\necho device Fake\\nfor k in 1 2 3; do echo kernel_ms {{took}}; done\\n")
program.write(f"exit {{code}}\\n")
program.close()
import os
os.chmod(program.name, 0o755)
"""
"""A compiler whose programs say how long a kernel takes, without a GPU."""
SMI = """#!/bin/sh
case "$1" in
*name*) echo "Fake GPU, 570.1, 1980 MHz, 2619 MHz, 700.00 W" ;;
*) echo "1410 MHz, 2619 MHz, 41" ;;
esac
"""


def cells(notebook: Path) -> str:
    """The code of a notebook, one cell after the other; the value at the end of each is shown."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    return "\n\n".join(
        "".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code"
    )


def run(command: list[str], folder: Path, path: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg"}
    environment["PATH"] = f"{path}:{environment['PATH']}" if path else environment["PATH"]
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_notebook_runs(tmp_path):
    """Its cells in order, in one process, as a module that functions can be found in."""
    code = cells(ROOT / "examples/notebook/tune.ipynb")
    (tmp_path / "notebook.py").write_text(code + "\nprint(total.chosen(2.0), asked.best_params)\n")
    done = run(["notebook.py"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "{'block': " in done.stdout
    assert (tmp_path / "notebook.html").exists()


@pytest.fixture
def tools(tmp_path):
    """Stand-ins for nvcc and nvidia-smi; the folder that they lie in."""

    def made(code: int = 0) -> str:
        folder = tmp_path / "bin"
        folder.mkdir()
        for name, text in (("nvcc", NVCC.format(python=sys.executable, code=code)),
                           ("nvidia-smi", SMI)):  # fmt: skip
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        return str(folder)

    return made


def test_kernel_times_device_and_clocks_are_kept(tmp_path, tools):
    done = run([str(GPU), "--evaluations", "12"], tmp_path, tools())
    assert done.returncode == 0, done.stderr
    with Store.open(tmp_path / "gpu.sqlite") as results:
        (stored,) = results.load_study("gpu-stencil").runs
    assert stored.machine.title == "Fake GPU"
    assert stored.conditions["clocks.max.sm"] == "1980 MHz"
    statuses = {m.status for m in stored.measurements}
    assert statuses <= {"ok", "build-failed"}
    sample = next(m for m in stored.measurements if m.status == "ok").samples[0]
    assert 4e-4 < sample.seconds < 5e-3
    assert sample.conditions["temperature.gpu"] == "41"
    assert "gpu-stencil" in done.stdout


def test_without_a_device_it_says_so(tmp_path, tools):
    done = run([str(GPU)], tmp_path, tools(code=3))
    assert done.returncode == 1
    assert done.stderr.startswith("no GPU: ")
    assert "Traceback" not in done.stderr


def test_the_kernel_compiles(tmp_path):
    if shutil.which("nvcc") is None:
        pytest.skip("optional: needs nvcc")
    source, program = ROOT / "examples/gpu/stencil.cu", tmp_path / "stencil"
    subprocess.run(["nvcc", str(source), "-o", str(program)], check=True, capture_output=True)
    done = subprocess.run([program, "256", "3"], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 3), done.stderr
    if done.returncode == 0:
        assert done.stdout.count("kernel_ms") == 3
    else:
        assert "driver" in done.stderr or "no CUDA-capable device" in done.stderr
