"""Peers of the benchmark that run as child processes, each under a Python of its own.

The help of ``replay.py`` says how to install them.
"""

import functools
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from autotune.files.recorded.recorded_space import RecordedSpace, Setting

_MILLI = 1e3


@dataclass(frozen=True, slots=True)
class Peer:
    """A technique of a tuner that is not ours."""

    package: str
    """Its package, which is also the folder of its virtual environment."""
    module: str
    """What the package is imported as."""
    worker: str
    """The script that runs it, beside this file."""
    technique: str
    slow: bool = False
    """It takes a tenth of a second for a step, or more."""


_KERNEL_TUNER = ("kernel_tuner", "kernel_tuner", "replay_kernel_tuner.py")
PEERS: Mapping[str, Peer] = {
    "kt-genetic": Peer(*_KERNEL_TUNER, "genetic_algorithm"),
    "kt-basin-hopping": Peer(*_KERNEL_TUNER, "basinhopping"),
    "kt-greedy-ils": Peer(*_KERNEL_TUNER, "greedy_ils"),
    "kt-hybrid-vndx": Peer(*_KERNEL_TUNER, "hybrid_vndx"),
    "kt-tabu-greywolf": Peer(*_KERNEL_TUNER, "adaptive_tabu_greywolf"),
    "kt-bayes": Peer(*_KERNEL_TUNER, "bayes_opt", slow=True),
    "pyatf": Peer("pyatf", "pyatf", "replay_pyatf.py", "AUCBandit"),
    "smac": Peer("smac", "smac", "replay_smac.py", "", slow=True),
    "hebo": Peer("HEBO", "hebo", "replay_hebo.py", "", slow=True),
}
"""By the name of the method."""


def python(folder: Path, peer: Peer) -> Path:
    """The Python of a peer in a folder of virtual environments."""
    return folder.absolute() / peer.package / "bin" / "python"


def present(folder: Path, peer: Peer) -> bool:
    """Whether the folder has a Python that can import the peer."""
    return _imports(str(python(folder, peer)), peer.module)


@functools.cache
def _imports(executable: str, module: str) -> bool:
    command = [executable, "-c", f"import {module}"]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=120)
    except OSError:
        return False
    return done.returncode == 0


class Worker:
    """A child process that answers what the techniques of a peer would evaluate."""

    def __init__(self, folder: Path, peer: Peer) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._spaces: dict[str, Path] = {}
        script = Path(__file__).parent / peer.worker
        command = [str(python(folder, peer)), str(script)]
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        """End the child."""
        if self._child.stdin is not None and self._child.stdout is not None:
            self._child.stdin.close()
            self._child.stdout.close()
        self._child.wait(timeout=60)
        self._folder.cleanup()

    def order(self, space: RecordedSpace, technique: str, budget: int, seed: int) -> list[int]:
        """The rows that a technique evaluates, in order, each once; until it fails, if it does."""
        if space.name not in self._spaces:
            path = Path(self._folder.name) / f"{len(self._spaces)}.json"
            path.write_text(json.dumps(_content(space)), encoding="utf-8")
            self._spaces[space.name] = path
        request = {
            "space": str(self._spaces[space.name]),
            "technique": technique,
            "budget": budget,
            "seed": seed,
        }
        if self._child.stdin is None or self._child.stdout is None:
            raise RuntimeError("the child process has no pipes")
        self._child.stdin.write(json.dumps(request) + "\n")
        self._child.stdin.flush()
        line = self._child.stdout.readline()
        if not line:
            raise RuntimeError(f"the process that searches {space.name} by {technique} ended")
        answer = json.loads(line)
        order = cast(list[int], answer["order"])
        if "error" in answer:
            what = f"{technique} on {space.name}, after {len(order)} evaluations"
            print(f"{what}: {answer['where']}", file=sys.stderr)
        return order


def _content(space: RecordedSpace) -> dict[str, object]:
    """A space as a worker reads it: numbers as numbers, all else as words; costs in ms where the
    unit is known, since some peers compare differences of times.
    """
    columns = list(space.parameters.values())
    places = [{value: place for place, value in enumerate(values)} for values in columns]
    scale = _MILLI if space.unit else 1.0
    return {
        "names": list(space.names),
        "values": [_plain(values) for values in columns],
        "rows": [[p[v] for p, v in zip(places, row, strict=True)] for row in space.rows],
        "costs": [
            scale * seconds if status == "ok" else None
            for seconds, status in zip(space.seconds.tolist(), space.statuses, strict=True)
        ],
    }


def _plain(values: tuple[Setting, ...]) -> list[int | float | str]:
    """The values themselves where all are numbers, else one word each."""
    if all(isinstance(value, int | float) for value in values):
        return [int(v) if isinstance(v, bool | int) else float(v or 0) for v in values]
    return [f"v{place}" for place in range(len(values))]
