"""Conjugate gradients in C, Fortran and Python: zeta against the published one, and all assertions.

    python benchmarks/assertions_cg.py [--languages c,fortran,python] [--letters S,W,A]
                                       [--ranks 1,2,4]

Each program of `examples/assertions` runs on so many ranks under `autotune assert run`, built
without optimisation so that the operations of its lines are counted (Python counts them itself).
Printed are the difference of zeta from the published value (NAS RNR-94-007), which is to be below
1e-10, and how many assertions hold. mpicc, mpifort and mpiexec are those on PATH; Python's mpiexec
is that of its MPI.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from autotune.toolchain import mpi

EXAMPLES = Path(__file__).parents[1] / "examples" / "assertions"
AUTOTUNE = [sys.executable, "-m", "autotune", "assert"]
BOUND = 1e-10
AS_ROOT = tuple(
    f"{name}_ALLOW_RUN_AS_ROOT{end}" for name in ("OMPI", "PRTE") for end in ("", "_CONFIRM")
)
"""Open MPI wants these of root, as in a container."""


def main() -> None:
    arguments = _arguments()
    print("language  class  ranks  zeta - published  assertions")
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for language in arguments.languages.split(","):
            command = _built(language, Path(folder))
            for letter in arguments.letters.split(","):
                for ranks in arguments.ranks.split(","):
                    launched = [_launcher(language), "--oversubscribe", "-n", ranks]
                    difference, outcome = _run([*launched, *command, letter], Path(folder))
                    wrong += not abs(difference) < BOUND or not outcome.startswith("pass")
                    words = f"{letter:5}  {ranks:>5}  {difference:16.1e}  {outcome}"
                    print(f"{language:8}  {words}", flush=True)
    if wrong:
        sys.exit(f"{wrong} runs are wrong")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--languages", default="c,fortran,python")
    parser.add_argument("--letters", default="S,W,A", help="classes")
    parser.add_argument("--ranks", default="1,2,4")
    return parser.parse_args()


def _built(language: str, folder: Path) -> list[str]:
    """The command of a program, which is built in the folder."""
    if language == "python":
        return [sys.executable, str(EXAMPLES / "cg.py")]
    compiler, source = {"c": ("mpicc", "cg.c"), "fortran": ("mpifort", "cg.F90")}[language]
    options = ["--gcov", *(["--fortran"] if language == "fortran" else [])]
    flags = subprocess.check_output([*AUTOTUNE, "flags", *options], text=True).split()
    name = f"cg_{language}"
    words = [compiler, *flags, str(EXAMPLES / source), "-o", name, "-lm"]
    subprocess.run(words, cwd=folder, check=True)
    return [str(folder / name)]


def _launcher(language: str) -> str:
    """The mpiexec on PATH, or that of mpi4py's MPI."""
    return (mpi.find().mpiexec if language == "python" else None) or "mpiexec"


def _run(launched: list[str], folder: Path) -> tuple[float, str]:
    """Zeta less the published one, and the outcome of the assertions in words."""
    done = subprocess.run(
        [*AUTOTUNE, "run", "--output", str(folder / "records"), "--json", "--", *launched],
        cwd=folder,
        env=os.environ | dict.fromkeys(AS_ROOT, "1"),
        capture_output=True,
        text=True,
    )
    printed = re.search(r"zeta\s+([-\d.eE+]+), published\s+([-\d.eE+]+)", done.stderr + done.stdout)
    if printed is None:
        sys.exit(f"{' '.join(launched)}: {done.stderr[-1500:]}")
    (check,) = json.loads(done.stdout)["checks"]
    figures = check["figures"]
    words = f"{check['outcome']}: {figures['passes']} of {figures['assertions']} hold"
    return float(printed[1]) - float(printed[2]), words


if __name__ == "__main__":
    main()
