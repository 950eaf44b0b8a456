"""Does one compiler beside the measurements disturb them? Then builds must run between them.

    python benchmarks/builder_beside.py [--pairs 30] [--threads 1]

A C program is launched in pairs, in random order: once alone, once while one compiler translates
the same large file again and again. ``registers`` sums in the first cache, ``array`` reads 16 MiB
from beyond the second cache; both print the smallest of their samples. Printed for each: the ratio
of the times of the pairs with its 95 % interval, the ratio of two launches that were both alone
(what this host resolves), and how often the time beside the compiler was disturbed by more than
2 %. A tuner that builds beside its launches measures this error unless every candidate is hit
alike. With more cores than threads the compiler has one of its own.
"""

import argparse
import contextlib
import os
import random
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from autotune.statistics.distributions import student

HERE = Path(__file__).resolve().parent
PROGRAMS = {"registers": ("400", "8", "40", "2000"), "array": ("25", "8", "1", str(1 << 21))}
"""Work, samples, repeats, length of the array."""
CLEAR = 0.02


@contextlib.contextmanager
def compiling(source: Path, *, running: bool) -> Iterator[None]:
    """One compiler that translates a file again and again beside what runs meanwhile."""
    ended = threading.Event()

    def repeat() -> None:
        while running and not ended.is_set():
            command = ["gcc", "-O3", "-c", str(source), "-o", os.devnull]
            with subprocess.Popen(command, start_new_session=True) as compiler:
                while compiler.poll() is None and not ended.wait(0.01):
                    pass
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(compiler.pid, signal.SIGKILL)

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        ended.wait(0.3 if running else 0)
        yield
    finally:
        ended.set()
        thread.join()


def launched(program: Path, arguments: Sequence[str], threads: int) -> float:
    """The smallest time that one launch prints, in seconds."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(
        [program, *arguments], check=True, env=environment, stdout=subprocess.PIPE, text=True
    )
    return min(float(text) for text in re.findall(r"seconds: (\S+)", done.stdout))


def shown(ratios: Sequence[float]) -> str:
    """The geometric mean of ratios with its 95 % interval."""
    logs = np.log(ratios)
    half = student(len(logs) - 1, 0.95) * logs.std(ddof=1) / len(logs) ** 0.5
    low, mean, high = np.exp([logs.mean() - half, logs.mean(), logs.mean() + half])
    return f"{mean:.4f} [{low:.4f}, {high:.4f}]"


def main() -> None:
    """Launch both programs alone and beside a compiler."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program, large = Path(folder, "program"), Path(folder, "large.c")
        flags = ["-O2", "-fopenmp", str(HERE / "under_load.c"), "-o", str(program)]
        subprocess.run(["gcc", *flags], check=True)
        loop = "for (int i = 0; i < n; i++) a[i] = a[i] * b[i] + {};"
        body = " ".join(loop.format(number) for number in range(200))
        large.write_text(
            "".join(f"void f{k}(int n, double *a, double *b) {{ {body} }}\n" for k in range(20))
        )
        for name, program_arguments in PROGRAMS.items():
            beside, alone = [], []
            for _ in range(arguments.pairs):
                times = {}
                for state in random.sample(("first", "second", "beside"), 3):
                    with compiling(large, running=state == "beside"):
                        times[state] = launched(program, program_arguments, arguments.threads)
                beside.append(times["beside"] / times["first"])
                alone.append(times["second"] / times["first"])
            off = np.mean([abs(ratio - 1) > CLEAR for ratio in beside])
            print(
                f"{name}, {arguments.threads} of {os.cpu_count()} CPUs, {arguments.pairs} pairs:"
                f" beside a compiler over alone {shown(beside)}, alone over alone {shown(alone)};"
                f" {100 * off:.0f} % of the launches beside it off by more than 2 %",
                flush=True,
            )


if __name__ == "__main__":
    random.seed(1)
    main()
