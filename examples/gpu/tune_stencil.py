"""Tunes a CUDA kernel by ask and tell; the time is that of the kernel, read from what it prints.

    python examples/gpu/tune_stencil.py [--size 4096] [--evaluations 25] [--store gpu.sqlite]

Needs an NVIDIA GPU and nvcc. The device, its driver and its clocks are conditions of the run;
temperature and clock are kept with the samples of each candidate.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import autotune as at

SOURCE = Path(__file__).with_name("stencil.cu")
PARAMETERS = {
    "BLOCK_X": [16, 32, 64, 128, 256],
    "BLOCK_Y": [1, 2, 4, 8, 16],
    "ROWS": [1, 2, 4, 8],
}
RESTRICTIONS = [
    ("BLOCK_X * BLOCK_Y <= 1024", "a block has at most 1,024 threads"),
    ("BLOCK_X * BLOCK_Y >= 64", "two warps hide latency better than one"),
]
NO_DEVICE, WRONG = 3, 4
"""Exit codes of the program."""
OF_RUN = ("name", "driver_version", "clocks.max.sm", "clocks.max.mem", "power.limit")
OF_SAMPLE = ("clocks.sm", "clocks.mem", "temperature.gpu")


def query(names: tuple[str, ...]) -> dict[str, str]:
    """What nvidia-smi says of the first GPU; empty where it is not installed."""
    if shutil.which("nvidia-smi") is None:
        return {}
    command = ["nvidia-smi", f"--query-gpu={','.join(names)}", "--format=csv,noheader", "--id=0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    values = [value.strip() for value in done.stdout.split(",")]
    return dict(zip(names, values, strict=True)) if len(values) == len(names) else {}


def build(params: dict[str, object], folder: Path) -> Path:
    """The program of a candidate; CalledProcessError with what the compiler said."""
    program = folder / "stencil"
    macros = [f"-D{name}={value}" for name, value in params.items()]
    command = ["nvcc", "-O3", "-arch=native", *macros, str(SOURCE), "-o", str(program)]
    subprocess.run(command, capture_output=True, text=True, check=True)
    return program


def measure(study: at.Study, trial: at.AskedTrial, size: int, folder: Path) -> None:
    """Build and run a candidate, and tell the times of its kernel, or why it failed."""
    try:
        program = build(dict(trial.params), folder)
    except subprocess.CalledProcessError as error:
        study.tell(trial, failed=error.stderr[-500:], status="build-failed")
        return
    done = subprocess.run([program, str(size)], capture_output=True, text=True, check=False)
    if done.returncode == NO_DEVICE:
        raise SystemExit(f"no GPU: {done.stderr.strip()}; this example needs one from NVIDIA")
    if done.returncode:
        status = "wrong-result" if done.returncode == WRONG else "crashed"
        study.tell(trial, failed=(done.stderr or done.stdout)[-500:], status=status)
        return
    times = [float(text) / 1e3 for text in re.findall(r"^kernel_ms (\S+)$", done.stdout, re.M)]
    study.tell(trial, time=times, conditions=query(OF_SAMPLE))


def main() -> None:
    """Tune until no more is expected, or the budget is used up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--evaluations", type=int, default=25)
    parser.add_argument("--store", default="gpu.sqlite")
    options = parser.parse_args()
    if shutil.which("nvcc") is None:
        raise SystemExit("nvcc is not on the path: install the CUDA toolkit (nvidia-cuda-toolkit)")
    conditions = query(OF_RUN)
    study = at.Study(
        PARAMETERS,
        restrictions=RESTRICTIONS,
        name="gpu-stencil",
        store=options.store,
        problems=[{"n": options.size}],
        size="n",
        machine=conditions.get("name", "a GPU"),
        conditions=conditions,
        evaluations=options.evaluations,
    )
    with study, tempfile.TemporaryDirectory() as folder:
        while not study.finished:
            trial = study.ask()
            measure(study, trial, options.size, Path(folder))
            print(f"{trial.number:3d} {dict(trial.params)}", file=sys.stderr)
        print(study.result)


if __name__ == "__main__":
    main()
