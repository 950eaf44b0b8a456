"""Whether our search knows how sure it is: of times, and of candidates that run.

    python benchmarks/replay_calibration.py [FILE or FOLDER ...] [--of times,runs]
                                            [--failing 0,0.3,0.8] [--kinds regions,limit]
                                            [--seeds 2] [--first-seed 1] [--evaluations 50]

Our search, told nothing, evaluates a recorded space. After each evaluation but the first three what
it expects is noted of the candidate that comes next (`chosen`), and every eighth time of 48 drawn
ones that were not evaluated yet (`drawn`).

Times (compressed logarithms, as the surface has them): by evaluations and by space, z is how far
the recorded time lies above the mean, in standard deviations. Printed are its root mean square (1
if they are right), the share of |z| > 3 (normal: .003) and of times within 80 % intervals, the mean
log score (less is better), and the root mean square of the error itself.

Candidates that run, once something failed: classes of what was said with the share that ran, the
log score (lower is better; beside it that of the overall share), Brier's score, the calibration
error (mean absolute difference of the two columns, weighted) and the area under the curve (how well
those that run are told from others).

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
from autotune.tuning.search.surface import Observation, Surface

_KINDS = {"regions": failing, "limit": limited}
_PARTS = ("times", "runs")
_SKIPPED, _EVERY, _DRAWN = 3, 8, 48
_STEPS = (range(3, 8), range(8, 12), range(12, 25), range(25, 1000))
_NORMAL_80 = 1.2816
_CLASSES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
_SURE = 0.02
"""Probabilities nearer to 0 and 1 count as this in the log score."""
_EXACT = 1e-8
"""Variance of a recorded time."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A probability that was stated, and whether the candidate runs."""

    probability: float
    runs: bool
    chosen: bool


@dataclass(frozen=True, slots=True)
class Expected:
    """How far a recorded log time lies above its posterior mean, and the standard deviation."""

    space: str
    step: int
    error: float
    sd: float
    chosen: bool


@dataclass(frozen=True, slots=True)
class Course:
    """A recorded space with the rows that our search evaluated, in order."""

    space: RecordedSpace
    seed: int
    order: list[int]

    @classmethod
    def of(cls, space: RecordedSpace, evaluations: int, seed: int) -> "Course":
        """What our search evaluates, told nothing, however near it is to the best."""
        recorded = candidates_of(space)
        given = recorded.points(np.full(len(space), np.nan))
        nowhere = np.zeros(len(space), dtype=np.bool_)
        search = UntilNear(ModelSearch(given, seed=seed), near=nowhere)
        plan = replay_plan(evaluations, seed)
        order = evaluated(recorded, given, search, recorded.measurer(), plan).order
        return cls(space, seed, order)

    def judged(self) -> Iterator[tuple[int, list[int]]]:
        """Each number of evaluations with the next row and, now and then, rows that are drawn."""
        every, chance = np.arange(len(self.space)), np.random.default_rng([self.seed, 7])
        for count, row in enumerate(self.order):
            rows = [row] if count >= _SKIPPED else []
            if rows and count % _EVERY == 0:
                rest = np.setdiff1d(every, self.order[:count])
                rows += chance.choice(rest, min(_DRAWN, len(rest)), replace=False).tolist()
            yield count, rows

    def runs(self) -> Iterator[Stated]:
        """The probabilities to run that were stated."""
        statuses, group = self.space.statuses, np.zeros(len(self.space), dtype=np.intp)
        failures = Failures(levels(self.space.rows), group, np.arange(len(group)), self.seed)
        for count, rows in self.judged():
            success = failures.success()
            if not isinstance(success, float):
                for row in rows:
                    chosen = row == self.order[count]
                    yield Stated(float(success[row]), statuses[row] == "ok", chosen)
            failures.learn(self.order[count], failed=statuses[self.order[count]] != "ok")

    def times(self) -> Iterator[Expected]:
        """The times that were expected of candidates that run."""
        unknown, group = np.full(len(self.space), np.nan), np.zeros(len(self.space), dtype=np.intp)
        surface = Surface(
            levels=levels(self.space.rows),
            group=group,
            columns=np.arange(len(group)),
            predicted=unknown,
            sigma=unknown,
            seed=self.seed,
        )
        values = np.log(self.space.seconds)
        for count, rows in self.judged():
            able = [row for row in rows if self.space.statuses[row] == "ok"]
            if able and surface.count > 1:
                posterior = surface.posterior(np.empty(0, dtype=np.intp))
                errors = posterior.bends[0].down(values[able]) - posterior.mean[able]
                for row, error, sd in zip(able, errors, posterior.sd[able], strict=True):
                    chosen = row == self.order[count]
                    yield Expected(self.space.name, count, float(error), float(sd), chosen)
            row = self.order[count]
            if self.space.statuses[row] == "ok":
                surface.learn(Observation(row=row, value=float(values[row]), noise=_EXACT))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("spaces", nargs="*", help="recorded files, or folders of them")
    parser.add_argument("--of", default=",".join(_PARTS), help="times, runs or both")
    parser.add_argument("--failing", default="0.3", help="shares of failing candidates")
    parser.add_argument("--kinds", default="regions", help=", ".join(_KINDS))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--evaluations", type=int, default=50)
    arguments = parser.parse_args()
    given = [Path(text) for text in arguments.spaces] or [Path(__file__).with_name("recorded")]
    spaces = [read(path) for path in recorded_files(given)]
    parts = arguments.of.split(",")
    for share in map(float, arguments.failing.split(",")):
        for kind in arguments.kinds.split(",") if share else ["as recorded"]:
            stated: list[Stated] = []
            expected: list[Expected] = []
            for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
                for space in spaces:
                    some = _KINDS[kind](space, share, seed) if share else space
                    fails = any(status != "ok" for status in some.statuses)
                    if "times" in parts or fails:
                        course = Course.of(some, arguments.evaluations, seed)
                        stated += course.runs() if "runs" in parts and fails else ()
                        expected += course.times() if "times" in parts else ()
            print(f"{share:.0%} failing, {kind}" if share else kind, flush=True)
            for chosen, word in ((True, "chosen"), (False, "drawn")):
                if "times" in parts:
                    print("\n".join(times([e for e in expected if e.chosen == chosen], word)))
                if "runs" in parts:
                    print("\n".join(table([s for s in stated if s.chosen == chosen], word)))


def times(expected: Sequence[Expected], word: str) -> list[str]:
    """How well standard deviations of times say how far they are off, by evaluations and space."""
    parts = {"all": [*expected]}
    for steps in _STEPS:
        name = f"after {steps.start} to {steps.stop - 1}"
        parts[name if steps is not _STEPS[-1] else f"after {steps.start} and more"] = [
            e for e in expected if e.step in steps
        ]
    for space in sorted({e.space for e in expected}):
        parts[space] = [e for e in expected if e.space == space]
    out = [f"  times, {word:24s}     of  rms z  |z|>3  in 80 %  log score  rms error"]
    for name, some in parts.items():
        if some:
            error, sd = np.array([e.error for e in some]), np.array([e.sd for e in some])
            z = error / sd
            score = np.mean(0.5 * z * z + np.log(sd) + 0.5 * math.log(2 * math.pi))
            out.append(
                f"    {name:30s} {len(z):6d} {_rms(z):6.2f} {np.mean(abs(z) > 3):6.3f}"
                f" {np.mean(abs(z) < _NORMAL_80):8.3f} {score:10.3f} {_rms(error):10.3f}"
            )
    return out


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values * values)))


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
