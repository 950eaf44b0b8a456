"""Five spaces of one host that benchmarks/host_search.py records, and what is tuned before them.

No setting of the search was chosen on any of them. No price of the model was set on `faces3d-7pt`
and `box3d-19pt`, which are kept for judging (`accuracy_sets`), nor on `advection`, which is in none
of the sets there; that of calls was mended after looking at `solid-fuel`. `zstd-options` is a
program of others, without predictions.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from autotune.commands.rank.ranked_space import load
from autotune.workloads.base import Workload

_UNSEEN = Path(__file__).resolve().parent / "unseen"
_BUILDS = "  - {compiler: gcc, flags: [-O3, -march=native]}\n"
_LESS = "  - {compiler: gcc, flags: [-O2, -march=native]}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSpace:
    """One problem of this host with all its candidates."""

    name: str
    problem: str
    """The entry of the config."""
    space: str
    """What says the candidates: lines of the config."""
    threads: int = 1
    builds: str = _BUILDS + _LESS
    samples: int = 2
    """Of a launch."""
    siblings: Mapping[str, tuple[str, int]]
    """What is tuned before: by a word for the difference, the problem and the threads."""

    @property
    def study(self) -> str:
        """The name of its studies."""
        return f"host-{self.name}"

    def sibling(self, difference: str) -> "HostSpace":
        """The same space of another problem or with other threads."""
        problem, threads = self.siblings[difference]
        name = f"{self.name}-{difference}"
        return replace(self, name=name, problem=problem, threads=threads, siblings={})

    def config(self) -> str:
        """The text of its config file."""
        builds = f"builds:\n{self.builds}" if self.builds else ""
        threads = f"threads: [{self.threads}]\n" if self.builds else ""
        return (
            "schema: autotune.config/1\n"
            f"title: {self.name}, all candidates\n"
            f"name: {self.study}\n"
            f"machine: host\n{self.space}"
            f"problems:\n  - {self.problem}\n{builds}{threads}"
            f"measuring: {{rounds: 3, samples: {self.samples}, min_sample: 20 ms}}\n"
        )

    def workload(self, folder: Path) -> Workload:
        """What its config says, which is written into a folder that exists."""
        config = folder / f"{self.study}.yaml"
        config.write_text(self.config(), encoding="utf-8")
        return load(config)

    def store(self, folder: Path) -> str:
        """The results file of its recording."""
        return str(folder / "host.sqlite")


def _ivp(name: str, size: int) -> str:
    unseen = _UNSEEN / "ivp" / f"{name}.yaml"
    path = unseen if unseen.exists() else name
    return f"{{ivp: {path}, method: radau-iia-7, correctors: 6, size: {size}}}"


def _stencil(name: str, i: int, j: int, k: int) -> str:
    path = _UNSEEN / "stencil" / f"{name}.yaml"
    return f"{{stencil: {path}, grid: {{i: {i}, j: {j}, k: {k}}}}}"


_ALL = len(os.sched_getaffinity(0))
_PIRK = "skeleton: pirk\nspace: {}\n"
_JACOBI = "skeleton: jacobi\nspace: {}\n"

SPACES = {
    space.name: space
    for space in (
        HostSpace(
            name="solid-fuel",
            problem=_ivp("solid-fuel", 128),
            space=_PIRK.format("pirk-time-small"),
            builds=_BUILDS,
            siblings={
                "size": (_ivp("solid-fuel", 200), 1),
                "threads": (_ivp("solid-fuel", 128), _ALL),
            },
        ),
        HostSpace(
            name="advection",
            problem=_ivp("advection", 250_000),
            space=_PIRK.format("pirk"),
            builds=_BUILDS,
            siblings={
                "size": (_ivp("advection", 150_000), 1),
                "threads": (_ivp("advection", 250_000), _ALL),
            },
        ),
        HostSpace(
            name="faces3d-7pt",
            problem=_stencil("faces3d-7pt", 100, 50, 20),
            space=_JACOBI.format("stencil-blocks"),
            threads=_ALL,
            siblings={
                "size": (_stencil("faces3d-7pt", 80, 60, 24), _ALL),
                "threads": (_stencil("faces3d-7pt", 100, 50, 20), 1),
            },
        ),
        HostSpace(
            name="box3d-19pt",
            problem=_stencil("box3d-19pt", 120, 30, 320),
            space=_JACOBI.format("stencil-time"),
            builds=_BUILDS,
            siblings={
                "size": (_stencil("box3d-19pt", 120, 30, 480), 1),
                "threads": (_stencil("box3d-19pt", 120, 30, 320), _ALL),
            },
        ),
        HostSpace(
            name="zstd-options",
            problem="{arguments: {most_percent: 25}}",
            space=f"program: {_UNSEEN / 'program' / 'zstd-options.yaml'}\n",
            builds="",
            samples=1,
            siblings={"size": ("{arguments: {most_percent: 24}}", 1)},
        ),
    )
}
