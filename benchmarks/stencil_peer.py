"""One launch of Devito or pystencils for ``stencil_peers.py``, which writes its arguments.

    PYTHON benchmarks/stencil_peer.py devito|pystencils TASK.json

The file names the body of the stencil, its constants and radius, the first values with ghosts
(.npy), where the values after ``check`` sweeps go, threads, the variant, samples and the seconds of
a sample. Printed is one JSON object: seconds of a sweep of each sample, the variant, the version.

It imports nothing of autotune, since it runs in the environment of the peers.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

# ruff: noqa: ANN401 - expressions are those of the peers

Advance = Callable[[int], None]
"""Makes so many sweeps."""


class Rows:
    """``u[k][j][i]`` of a body at the point 0: gathers three offsets and reads there."""

    def __init__(self, read: Callable[..., Any], at: tuple[int, ...] = ()) -> None:
        self.read = read
        self.at = at

    def __getitem__(self, offset: int) -> Any:
        at = (*self.at, offset)
        return self.read(*at) if len(at) == 3 else Rows(self.read, at)


def body_of(task: dict[str, Any], read: Callable[..., Any]) -> Any:
    """The body of the stencil with elements as ``read`` gives them."""
    names = {**task["constants"], "u": Rows(read), "k": 0, "j": 0, "i": 0}
    return eval(task["body"], {"__builtins__": {}}, names)


def devito(task: dict[str, Any]) -> tuple[Advance, Callable[[], Any], str]:
    """Devito with OpenMP and blocks as its autotuner chooses; the grid's ghosts are its halo."""
    import devito as peer

    peer.configuration["log-level"] = "ERROR"
    peer.configuration["language"] = "openmp"
    first = np.load(task["initial"])
    radius = task["radius"]
    shape = tuple(extent - 2 * radius for extent in first.shape)
    grid = peer.Grid(shape=shape, dtype=np.float64)
    u = peer.TimeFunction(name="u", grid=grid, time_order=1, space_order=radius)
    x, y, z = grid.dimensions
    value = body_of(task, lambda k, j, i: u[grid.stepping_dim, x + k, y + j, z + i])
    sweep = peer.Operator([peer.Eq(u.forward, value)], opt=("advanced", {"openmp": True}))
    made = [0]
    blocks: dict[str, int] = {}

    def start() -> None:
        u.data_with_halo[:] = first
        made[0] = 0

    def advance(count: int) -> None:
        sweep.apply(time_m=made[0], time_M=made[0] + count - 1, **blocks)
        made[0] += count

    start()
    if task["variant"] != "default":
        sweep.apply(time_m=0, time_M=99, autotune=(task["variant"], "preemptive"))
        state = sweep._state.get("autotuning", [])
        blocks.update(state[-1]["tuned"] if state else {})
        start()
    words = ", ".join(f"{name} {size}" for name, size in blocks.items()) or "its own blocks"
    halo = slice(radius, -radius)
    return advance, lambda: np.array(u.data_with_halo[made[0] % 2][halo, halo, halo]), words


def pystencils(task: dict[str, Any]) -> tuple[Advance, Callable[[], Any], str]:
    """pystencils on the CPU: compiled loops, or its own vectors, with streaming stores or not."""
    import pystencils as peer

    source = np.load(task["initial"])
    other = source.copy()
    u, v = peer.fields("u, v: double[3D]", layout="c")
    config = peer.CreateKernelConfig(
        target=peer.Target.CurrentCPU if task["variant"] != "loops" else peer.Target.GenericCPU,
        ghost_layers=task["radius"],
    )
    config.cpu.openmp.enable = task["threads"] > 1
    config.cpu.openmp.num_threads = task["threads"]
    if task["variant"] != "loops":
        config.cpu.vectorize.enable = True
        config.cpu.vectorize.assume_inner_stride_one = True
        config.cpu.vectorize.use_nontemporal_stores = task["variant"] == "vectors, streaming"
    value = body_of(task, lambda k, j, i: u[k, j, i])
    kernel = peer.create_kernel(peer.Assignment(v[0, 0, 0], value), config).compile()
    arrays = [source, other]

    def advance(count: int) -> None:
        for _ in range(count):
            kernel(u=arrays[0], v=arrays[1])
            arrays.reverse()

    inside = slice(task["radius"], -task["radius"])
    return advance, lambda: arrays[0][inside, inside, inside], task["variant"]


def main() -> None:
    tool, path = sys.argv[1:]
    task = json.loads(Path(path).read_text(encoding="utf-8"))
    advance, state, words = {"devito": devito, "pystencils": pystencils}[tool](task)
    advance(task["check"])
    np.save(task["result"], np.ascontiguousarray(state()))
    begin = time.perf_counter()
    advance(2)
    sweep = (time.perf_counter() - begin) / 2
    count = max(2, 2 * round(task["seconds"] / sweep / 2))
    times = []
    for _ in range(task["samples"]):
        begin = time.perf_counter()
        advance(count)
        times.append((time.perf_counter() - begin) / count)
    version = __import__(tool).__version__
    print(json.dumps({"seconds": times, "words": words, "version": version}))


if __name__ == "__main__":
    main()
