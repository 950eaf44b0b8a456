"""P by PyPI's autotuning_methodology beside ours, for a T4 file.

    python -m venv peers/autotuning_methodology
    peers/autotuning_methodology/bin/pip install autotuning_methodology
    python benchmarks/replay_methodology.py FILE.json[.gz] [--peers peers] [--seeds 20]

Random permutations of the space are scored, whose P is 0 on average, and the same with the best
candidate at the tenth place. The package takes the time at the expected place among the sorted
times for what random search has after t evaluations, rounded to a place (``_redwhite_index``), and
leaves failures out of the times; we take the expected time, and a failure has the median time.
This file is also the worker, which runs under the package's Python.
"""

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

_TENTH = 9
_END = 0.95
"""The package's cut-off: so far from the median to the best."""


def main() -> None:
    import numpy as np  # not in the worker, which is the same file
    from replay_performance import expected_curve, performance

    from autotune.files.recorded.read_recorded import read

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("file")
    parser.add_argument("--peers", default="peers", help="folder of virtual environments")
    parser.add_argument("--seeds", type=int, default=20)
    arguments = parser.parse_args()
    space = read(Path(arguments.file))
    orders = [
        np.random.default_rng(seed).permutation(len(space)).tolist()
        for seed in range(arguments.seeds)
    ]
    best = int(np.nanargmin(space.seconds))
    lucky = [[*order[:_TENTH], best, *order[_TENTH:]] for order in orders]
    python = Path(arguments.peers).absolute() / "autotuning_methodology" / "bin" / "python"
    costs = [None if np.isnan(s) else s * 1e3 for s in space.seconds.tolist()]
    theirs = asked(python, Path(arguments.file), [[costs[r] for r in o] for o in orders + lucky])
    ours = [performance(space, order, len(space)) for order in orders + lucky]
    print(
        f"{space.name}: {len(space)} candidates, {space.failures} of them failed; the comparison"
        f" ends after {len(expected_curve(space, len(space)))} evaluations by ours,"
        f" {theirs['end']} by the package"
    )
    for title, part in (
        ("random", slice(None, arguments.seeds)),
        ("lucky", slice(arguments.seeds, None)),
    ):
        pairs = np.array([ours[part], theirs["performances"][part]])
        difference = pairs[0] - pairs[1]
        print(
            f"  {title:7s} P ours {pairs[0].mean():.3f}, package {pairs[1].mean():.3f}, difference"
            f" {difference.mean():.3f} +- {difference.std():.3f}, at most"
            f" {np.abs(difference).max():.3f}"
        )


def asked(python: Path, file: Path, times: "list[list[float | None]]") -> "dict[str, list[float]]":
    """What the package says of runs, each the times in ms of its evaluations, None for failures."""
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "space.json"
        raw = file.read_bytes()
        plain.write_bytes(gzip.decompress(raw) if file.suffix == ".gz" else raw)
        done = subprocess.run(
            [str(python), __file__, "worker", str(plain)],
            input=json.dumps(times),
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"the package failed: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout.splitlines()[-1])


def work(file: str) -> None:
    """Score the runs on standard input by the package, over evaluations from the first."""
    import numpy as np
    from autotuning_methodology.baseline import RandomSearchCalculatedBaseline
    from autotuning_methodology.searchspace_statistics import SearchspaceStatistics

    statistics = SearchspaceStatistics(
        application_name="recorded",
        device_name="recorded",
        minimization=True,
        objective_time_keys=["runtimes"],
        objective_performance_keys=["time"],
        full_search_space_file_path=Path(file),
        full_validate=False,
    )
    baseline = RandomSearchCalculatedBaseline(statistics)
    _, end = statistics.cutoff_point(_END)
    evaluations = np.arange(1, end + 1)
    scores = []
    for times in json.load(sys.stdin):
        reached = np.fmin.accumulate([np.nan if t is None else t for t in times])[:end]
        reached = np.where(np.isnan(reached), statistics.total_performance_median(), reached)
        curve = baseline.get_standardised_curve(evaluations, reached, "fevals")
        scores.append(float(np.mean(curve)))
    print(json.dumps({"end": int(end), "performances": scores}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["worker"]:
        work(sys.argv[2])
    else:
        main()
