"""How fast the engines are, and how much of kerncraft is not waiting for kerncraft.

    python benchmarks/throughput.py [--engine both] [--sizes 200000] [--repeats 9] [--no-cold]
                                    [--machine haswell-e5-2630v3]

Engine ``reuse``: see ``throughput_reuse``, and ``throughput_rank`` for the whole command. Engine
``kerncraft``: printed are, each with minimum, median and maximum of the repeats,

    sizes/s   of the array evaluation on one core, one number of cores at a time (goal 300,000), and
              for all numbers of cores of a socket in one evaluation: (sizes x cores)/s
    ratio     to kerncraft's own layer-condition predictor and transfer model, called size after
              size inside one process that has the kernel loaded; without in-core analysis
    cold      wall time of analysing all kernels of PIRK for six IVPs with nothing in the cache
"""

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import throughput_rank
import throughput_reuse

from autotune.files import config
from autotune.files.kerncraft.kerncraft_text import kerncraft_text
from autotune.models.kerncraft import EcmModel, KerncraftAnalyser

_CONFIGS = ("heat2d", "inverterchain", "medakzo", "string-mix", "string-row", "wave1d")
_GOAL = 300_000
_POINTS = 60
"""Sizes that kerncraft itself is asked for in a repeat."""

_ROWS = ", ".join(f"Y{i}[N], F{i}[N]" for i in range(4))
_WEIGHTS = [" + ".join(f"0.{i + 1}{k}3*F{k}[j]" for k in range(4)) for i in range(4)]
_COMBINED = "\n".join(f"Y{i}[j] = y[j] + h*({_WEIGHTS[i]});" for i in range(4))
_STAR = "(a[j][i-1] + a[j][i+1] + a[j-1][i] + a[j+1][i])"
_CUBE = " + ".join(f"a[{at}]" for at in ("k-1][j][i", "k+1][j][i", "k][j-1][i", "k][j+1][i"))
_KERNELS = {
    "update, 5 rows": (
        f"double y[N], F0[N], F1[N], F2[N], F3[N]; double h;\n"
        f"for(int j=0; j<N; ++j) y[j] += h*({_WEIGHTS[0]});"
    ),
    "linear combination, 9 rows": (
        f"double y[N], {_ROWS}; double h;\nfor(int j=0; j<N; ++j) {{\n{_COMBINED}\n}}"
    ),
    "stencil 1-D 3-point": (
        "double a[N], b[N]; double s;\nfor(int j=1; j<N-1; ++j) b[j] = s*(a[j-1] + a[j+1]);"
    ),
    "stencil 2-D 5-point": (
        "double a[M][N], b[M][N]; double s;\nfor(int j=1; j<M-1; ++j)\n"
        f"for(int i=1; i<N-1; ++i) b[j][i] = s*{_STAR};"
    ),
    "stencil 3-D 7-point": (
        "double a[L][M][N], b[L][M][N]; double s;\nfor(int k=1; k<L-1; ++k)\n"
        "for(int j=1; j<M-1; ++j)\nfor(int i=1; i<N-1; ++i)\n"
        f"b[k][j][i] = s*(a[k][j][i-1] + a[k][j][i] + a[k][j][i+1] + {_CUBE});"
    ),
}
_RANGES = {1: ((8, 10**8),), 2: ((4, 30_000), (8, 10**6)), 3: ((4, 800), (4, 8000), (8, 60_000))}

_KERNCRAFT = """
import json, os, sys, time, warnings
warnings.simplefilter("ignore")
from kerncraft.cacheprediction import LayerConditionPredictor
from kerncraft.kernel import KernelCode
from kerncraft.machinemodel import MachineModel
from kerncraft.models import ECMData
job = json.load(sys.stdin)
times = []
for number, (text, repeats) in enumerate(job["kernels"]):
    os.mkdir(str(number)); os.chdir(str(number))
    with open("kernel.c", "w") as file:
        file.write(text)
    machine = MachineModel(job["machine"])
    kernel = KernelCode(text, machine=machine, filename="kernel.c")
    def point(sizes):
        kernel.clear_state()
        for name, size in sizes.items():
            kernel.set_constant(name, size)
        ECMData(kernel, machine, cache_predictor=LayerConditionPredictor).analyze()
    point(repeats[0][0])
    times.append([])
    for repeat in repeats:
        started = time.perf_counter()
        for sizes in repeat:
            point(sizes)
        times[-1].append(time.perf_counter() - started)
    os.chdir("..")
print(json.dumps(times))
"""


def main() -> None:
    arguments = _arguments()
    if arguments.engine != "kerncraft":
        throughput_rank.measure()
        throughput_reuse.measure(arguments.repeats, arguments.machine, cold=arguments.cold)
    if arguments.engine != "reuse":
        _measure_kerncraft(arguments)


def _measure_kerncraft(arguments: argparse.Namespace) -> None:
    machine = kerncraft_text(config.machine(arguments.machine))
    with KerncraftAnalyser(machine) as analyser:
        found = dict(zip(_KERNELS, analyser.analyse(list(_KERNELS.values())), strict=True))
    refused = {name: model for name, model in found.items() if isinstance(model, str)}
    if refused:
        sys.exit("\n".join(f"{name}: {reason}" for name, reason in refused.items()))
    models = {name: model for name, model in found.items() if isinstance(model, EcmModel)}
    alone = _kerncraft(machine, models, arguments.repeats)
    print(f"{arguments.sizes} sizes, {arguments.repeats} repeats, machine {arguments.machine}")
    slowest = math.inf
    for name, model in models.items():
        slowest = min(slowest, _evaluation(name, model, alone[name], arguments))
    print(f"slowest: {slowest / 1e6:.2f} M sizes/s (goal {_GOAL / 1e6:.1f} M)")
    if arguments.cold:
        _cold(machine, arguments.machine)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--engine", choices=("reuse", "kerncraft", "both"), default="both")
    parser.add_argument("--sizes", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--machine", default="haswell-e5-2630v3")
    parser.add_argument("--cold", action=argparse.BooleanOptionalAction, default=True)
    return parser.parse_args()


def _sizes(model: EcmModel, count: int, seed: int) -> dict[str, np.ndarray]:
    """Sizes spread evenly over their logarithms, from the first cache to memory."""
    chance = np.random.default_rng(seed)
    return {
        name: np.exp(chance.uniform(math.log(low), math.log(high), count)).astype(np.int64)
        for name, (low, high) in zip(model.constants, _RANGES[len(model.constants)], strict=True)
    }


def _evaluation(
    name: str, model: EcmModel, alone: Sequence[float], arguments: argparse.Namespace
) -> float:
    """Print the speed of one kernel's evaluation; sizes per second, the median."""
    sizes = _sizes(model, arguments.sizes, 1)
    sockets = list(range(1, model.cores + 1))
    one = _repeated(arguments.repeats, lambda: model.evaluate(sizes, [1]))
    all_ = _repeated(arguments.repeats, lambda: model.evaluate(sizes, sockets))
    speed = [arguments.sizes / seconds for seconds in one]
    with_cores = [len(sockets) * arguments.sizes / seconds for seconds in all_]
    ratio = statistics.median(alone) * statistics.median(speed)
    print(
        f"{name}: {_spread(speed, 1e-6)} M sizes/s;"
        f" on 1 to {len(sockets)} cores {_spread(with_cores, 1e-6)} M/s;"
        f" kerncraft {_spread(alone, 1e3)} ms a size, ratio {ratio:,.0f}"
    )
    return statistics.median(speed)


def _repeated(count: int, work: Callable[[], object]) -> list[float]:
    work()
    times = []
    for _ in range(count):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return times


def _spread(values: Sequence[float], scale: float) -> str:
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{scale * middle:.2f} (min {scale * low:.2f}, max {scale * high:.2f})"


def _kerncraft(machine: str, models: dict[str, EcmModel], repeats: int) -> dict[str, list[float]]:
    """Seconds per size of kerncraft itself, for every kernel and repeat."""
    kernels = []
    for name, model in models.items():
        asked = []
        for repeat in range(repeats):
            sizes = _sizes(model, _POINTS, 100 + repeat)
            asked.append([{n: int(s[k]) for n, s in sizes.items()} for k in range(_POINTS)])
        kernels.append([_KERNELS[name], asked])
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "machine.yml"
        place.write_text(machine, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-c", _KERNCRAFT],
            input=json.dumps({"machine": str(place), "kernels": kernels}),
            cwd=folder, capture_output=True, text=True, check=True,
        )  # fmt: skip
    times = json.loads(done.stdout.splitlines()[-1])
    return {
        name: [seconds / _POINTS for seconds in found]
        for name, found in zip(models, times, strict=True)
    }


def _cold(machine: str, name: str) -> None:
    """Print the wall time of analysing the kernels of PIRK with an empty cache."""
    texts = _pirk(name)
    random.Random(1).shuffle(texts)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["AUTOTUNE_CACHE"] = folder
        started = time.perf_counter()
        with KerncraftAnalyser(machine) as analyser:
            found = analyser.analyse(texts)
            cold, workers = time.perf_counter() - started, analyser.starts
        started = time.perf_counter()
        with KerncraftAnalyser(machine) as analyser:
            analyser.analyse(texts)
            warm = time.perf_counter() - started
    known = sum(isinstance(model, EcmModel) for model in found)
    print(
        f"cold: {len(texts)} kernels of PIRK and six IVPs ({known} that kerncraft can express)"
        f" in {cold:.1f} s with {workers} workers, {cold / len(texts):.2f} s a kernel;"
        f" again from the cache {1e3 * warm:.0f} ms"
    )


class _Listening:
    """An analyser that only hears which kernels are asked for."""

    def __init__(self) -> None:
        self.texts: dict[str, None] = {}

    def analyse(self, sources: Sequence[str]) -> list[EcmModel | str]:
        self.texts |= dict.fromkeys(sources)
        return ["not analysed"] * len(sources)


def _pirk(name: str) -> list[str]:
    """The texts of all stretches of all orders of the published configs."""
    from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
    from autotune.models.engines.kerncraft.kerncraft_engine import KerncraftEngine
    from autotune.workloads.generated.candidate_space import enumerate_candidates
    from autotune.workloads.ivp.ivp_kind import IvpKind

    machine, heard = config.machine(name), _Listening()
    for ivp in _CONFIGS:
        setup = config.load(Path(__file__).parents[1] / "configs" / f"icpe19-{ivp}.yaml")
        programs = SkeletonPrograms(setup.skeleton)
        legal = enumerate_candidates(setup, IvpKind(), programs, machine.cores).legal
        KerncraftEngine(machine, programs, heard).predict(legal)
    return sorted(heard.texts)


if __name__ == "__main__":
    main()
