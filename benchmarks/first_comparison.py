"""How soon the first comparison of two candidates is on the screen, for every shipped config.

    python benchmarks/first_comparison.py [CONFIG ...] [--limit 120]

Each config is tuned with an empty store until the tuner reports the first ratio of two measured
candidates, and is then interrupted. The host is calibrated before; what kerncraft and OSACA say of
the loops, and what MPI costs, may be in the cache or not. Printed are the seconds from the start of
the command to the comparison, those to the first build, which hold the prediction of the space, and
how busy the host was. Goal: at most 20 s.
"""

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from autotune.commands.rank.ranked_space import load
from autotune.commands.tune import flow
from autotune.errors import InputError
from autotune.measuring.conditions import host_load
from autotune.tuning.events import Event

CONFIGS = Path(__file__).parents[1] / "configs"
GOAL = 20.0


class _Compared(BaseException):
    """The first comparison was reported."""


def measure(config: Path) -> None:
    """Tune one config until its first comparison; print its times as JSON."""
    marks: dict[str, float] = {}
    begun = time.monotonic()

    def progress(stage: str, done: int, total: int, detail: str = "") -> None:
        del done, total, detail
        if stage.startswith(("build", "launch")):
            marks.setdefault("first build", time.monotonic() - begun)

    def watch(event: Event) -> None:
        if event.ratio is not None:
            marks["compared"] = time.monotonic() - begun
            raise _Compared

    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder, "results.sqlite"))
        try:
            with contextlib.suppress(_Compared):
                flow.tune(load(config), flow.StudyOptions(), store, progress, watch)
        except InputError as error:
            marks = {}
            print(json.dumps({"error": str(error).splitlines()[0]}))
            return
    print(json.dumps(marks))


def main() -> None:
    """Measure every config in a process of its own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("configs", nargs="*", type=Path, metavar="CONFIG")
    parser.add_argument("--limit", type=float, default=120, help="seconds for one config")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child is not None:
        measure(arguments.child)
        return
    subprocess.run([sys.executable, "-m", "autotune", "rank", str(CONFIGS / "quickstart.yaml")],
                   capture_output=True, check=True)  # fmt: skip
    late = 0
    configs = arguments.configs or sorted(CONFIGS.glob("*.yaml"))
    for config in configs:
        before = host_load.observe()
        started = time.monotonic()
        try:
            done = subprocess.run(
                [sys.executable, __file__, "--child", str(config)],
                capture_output=True, text=True, timeout=arguments.limit,
            )  # fmt: skip
            said = json.loads(done.stdout.splitlines()[-1]) if done.stdout else {}
        except subprocess.TimeoutExpired:
            said = {}
        wall = time.monotonic() - started
        if "error" in said:
            print(f"{config.stem}: {said['error']}", flush=True)
            continue
        compared = said.get("compared")
        late += compared is None or compared > GOAL
        print(
            f"{config.stem}: "
            + (f"{compared:.1f} s" if compared else f"no comparison within {wall:.0f} s")
            + (f", {said['first build']:.1f} s before the first build" if said else "")
            + f"; {before}",
            flush=True,
        )
    print(f"{late} of {len(configs)} later than {GOAL:g} s")


if __name__ == "__main__":
    main()
