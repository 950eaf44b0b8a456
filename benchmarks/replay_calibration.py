"""Whether candidates run as often as our search says: recorded spaces of which a share fails.

    python benchmarks/replay_calibration.py [FILE or FOLDER ...] [--failing 0,0.3,0.8]
                                            [--kinds regions,limit] [--seeds 2] [--first-seed 1]
                                            [--evaluations 50]

Our search, told nothing, evaluates a recorded space. After each evaluation but the first three,
once something failed, the stated probability to run is noted for the candidate that comes next
(`chosen`), and every eighth time for 48 drawn ones that were not evaluated yet (`drawn`). Printed
are classes of what was said with the share that ran, the log score (lower is better; beside it that
of the overall share), Brier's score, the calibration error (mean absolute difference of the two
columns, weighted) and the area under the curve (how well those that run are told from others).

A share fails by regions (`replay_failing`: values and pairs of values of all parameters), or beyond
a limit on at most three parameters; 0: only those that the file says.
"""

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from replay import recorded_files
from replay_failing import failing, limited
from replay_search import UntilNear, evaluated
from scipy.stats import rankdata

from autotune.commands.replay.flow import replay_plan
from autotune.commands.replay.recorded_candidates import candidates_of
from autotune.files.recorded.read_recorded import read
from autotune.files.recorded.recorded_space import RecordedSpace
from autotune.tuning.search.failures import Failures
from autotune.tuning.search.model_search import ModelSearch
from autotune.tuning.search.parameter_levels import levels

_KINDS = {"regions": failing, "limit": limited}
_SKIPPED, _EVERY, _DRAWN = 3, 8, 48
_CLASSES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
_SURE = 0.02
"""Probabilities nearer to 0 and 1 count as this in the log score."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A probability that was stated, and whether the candidate runs."""

    probability: float
    runs: bool
    chosen: bool


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("spaces", nargs="*", help="recorded files, or folders of them")
    parser.add_argument("--failing", default="0.3", help="shares of failing candidates")
    parser.add_argument("--kinds", default="regions", help=", ".join(_KINDS))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--evaluations", type=int, default=50)
    arguments = parser.parse_args()
    given = [Path(text) for text in arguments.spaces] or [Path(__file__).with_name("recorded")]
    spaces = [read(path) for path in recorded_files(given)]
    for share in map(float, arguments.failing.split(",")):
        for kind in arguments.kinds.split(",") if share else ["as recorded"]:
            stated: list[Stated] = []
            for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
                for space in spaces:
                    some = _KINDS[kind](space, share, seed) if share else space
                    stated += _searched(some, arguments.evaluations, seed)
            print(f"{share:.0%} failing, {kind}" if share else kind, flush=True)
            for chosen, word in ((True, "chosen"), (False, "drawn")):
                print("\n".join(table([s for s in stated if s.chosen == chosen], word)), flush=True)


def _searched(space: RecordedSpace, evaluations: int, seed: int) -> Iterator[Stated]:
    """What was stated while our search evaluated a space."""
    if all(status == "ok" for status in space.statuses):
        return
    recorded = candidates_of(space)
    given = recorded.points(np.full(len(space), np.nan))
    nowhere = np.zeros(len(space), dtype=np.bool_)
    search = UntilNear(ModelSearch(given, seed=seed), near=nowhere)
    plan = replay_plan(evaluations, seed)
    order = evaluated(recorded, given, search, recorded.measurer(), plan).order
    every, chance = np.arange(len(space)), np.random.default_rng([seed, 7])
    failures = Failures(levels(space.rows), np.zeros_like(every), every, seed)
    for count, row in enumerate(order):
        success = failures.success()
        if count >= _SKIPPED and not isinstance(success, float):
            rows = [row]
            if count % _EVERY == 0:
                rest = np.setdiff1d(every, order[:count])
                rows += chance.choice(rest, min(_DRAWN, len(rest)), replace=False).tolist()
            for place, judged in enumerate(rows):
                runs = space.statuses[judged] == "ok"
                yield Stated(float(success[judged]), runs, chosen=place == 0)
        failures.learn(row, failed=space.statuses[row] != "ok")


def table(stated: Sequence[Stated], word: str) -> list[str]:
    """Classes of what was stated, with the share that ran, and scores."""
    if not stated:
        return [f"  {word}: none"]
    said = np.array([s.probability for s in stated])
    runs = np.array([s.runs for s in stated], dtype=float)
    share = float(runs.mean())
    whole = _log_score(np.full(len(runs), share), runs)
    which = np.searchsorted(_CLASSES, said, side="right") - 1
    classes = [which == number for number in range(len(_CLASSES)) if (which == number).any()]
    error = sum(abs(said[some].sum() - runs[some].sum()) for some in classes) / len(runs)
    return [
        f"  {word}: {len(runs)}, {share:.3f} ran; log score {_log_score(said, runs):.3f}"
        f" (of the share {whole:.3f}), Brier {np.mean((said - runs) ** 2):.3f},"
        f" calibration error {error:.3f}, area under the curve {_area(said, runs):.3f}",
        "    said " + " ".join(f"{said[some].mean():5.2f}" for some in classes),
        "    ran  " + " ".join(f"{runs[some].mean():5.2f}" for some in classes),
        "    of   " + " ".join(f"{some.sum():5d}" for some in classes),
    ]


def _log_score(said: np.ndarray, runs: np.ndarray) -> float:
    sure = np.clip(said, _SURE, 1 - _SURE)
    return -float(np.mean(runs * np.log(sure) + (1 - runs) * np.log(1 - sure)))


def _area(said: np.ndarray, runs: np.ndarray) -> float:
    good = float(runs.sum())
    bad = len(runs) - good
    if not good or not bad:
        return math.nan
    ranks = float(rankdata(said)[runs == 1].sum())
    return (ranks - good * (good + 1) / 2) / (good * bad)


if __name__ == "__main__":
    main()
