"""How often our search ends by itself before it is near the best, and after how many evaluations.

    python benchmarks/replay_endings.py [FILE or FOLDER ...] [--models cold,systematic 0.4]
                                        [--patience 5,6] [--seeds 24] [--first-seed 224]
                                        [--most 100] [--results FILE]

Our search runs on recorded spaces, told nothing or with an emulated model (see `replay.py`), until
its ending rule is met, or ``--most`` candidates were evaluated. What it proposes does not depend on
the rule, so that one run says where it ends with each patience. Printed are, for each model, means
over spaces: the shares of runs that ended by themselves while the best so far was more than 1 % and
more than 5 % above the recorded best, and the evaluations until the end; then how the first share
differs from that of the runs that were told nothing, and both from the first patience (of the
evaluations the difference of the logarithm), with standard errors over spaces; and space by space
how many runs ended early.

Candidates are told to the search without the loop of the tuner, which takes most of the time: each
is launched once, with the fastest so far beside it, and the standard error of a time is .038
divided by the square root of its launches, as in the loop. Runs are appended to --results, and left
out when they are there already.
"""

import argparse
import dataclasses
import itertools
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import replay_score as score
from replay import recorded_files
from replay_methods import Task, predictions

from autotune.commands.replay.recorded_candidates import RecordedCandidates, candidates_of
from autotune.domain.setup import Selection
from autotune.files.recorded.read_recorded import read
from autotune.files.recorded.recorded_space import Floats, RecordedSpace
from autotune.statistics.drift import DriftFreeTimes
from autotune.tuning.first_candidates import first_candidates, misled
from autotune.tuning.search.base import SearchResult
from autotune.tuning.search.model_search import ModelSearch

_ERROR = 0.038
"""Standard error of the logarithm of a time of one launch, as the tuner states it."""
_RECORDED = Path(__file__).with_name("recorded")
_MODELS = "cold,engine,correlation 0.9,correlation 0.6,systematic 0.4"


def main() -> None:
    arguments = _arguments()
    paths = recorded_files([Path(text) for text in arguments.spaces] or [_RECORDED])
    models = arguments.models.split(",")
    patiences = [int(text) for text in arguments.patience.split(",")]
    results = Path(arguments.results)
    done = _done(results)
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    spaces = [(str(path), candidates_of(read(path))) for path in paths]
    ends: list[Ending] = []
    with results.open("a", encoding="utf-8") as file:
        for seed, (path, recorded), model in itertools.product(seeds, spaces, models):
            space = recorded.space
            case = Case(space=space.name, model=model, seed=seed, most=arguments.most)
            if model == "engine" and np.isnan(space.predicted).all():
                continue
            some = [done.get((case, patience)) for patience in patiences]
            if None in some:
                made = endings(recorded, predicted(path, space, case), case, patiences)
                file.writelines(json.dumps(dataclasses.asdict(end)) + "\n" for end in made)
                file.flush()
                some = list(made)
            ends += [end for end in some if end is not None]
    print("\n".join(lines(ends, models, patiences)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("spaces", nargs="*", help="recorded files, or folders of them")
    parser.add_argument("--models", default=_MODELS, help="as in replay.py")
    parser.add_argument("--patience", default="5,6", help="steps without expectation, such as 5,6")
    parser.add_argument("--seeds", type=int, default=24, help="how many")
    parser.add_argument("--first-seed", type=int, default=224)
    parser.add_argument("--most", type=int, default=100, help="evaluations of a run")
    parser.add_argument("--results", default="replay_endings.jsonl", help="where runs are kept")
    return parser.parse_args()


def predicted(path: str, space: RecordedSpace, case: "Case") -> Floats:
    """Seconds that the model of a run predicts, nan for none."""
    task = Task(
        path=path,
        space=case.space,
        method=score.OURS,
        model=case.model,
        seed=case.seed,
        budget=case.most,
        horizon=case.most,
        peers="",
    )
    return predictions(space, task)


def _done(results: Path) -> dict[tuple["Case", int], "Ending"]:
    """The endings that are in the file of results."""
    ends = {}
    for line in results.read_text(encoding="utf-8").splitlines() if results.exists() else []:
        row = json.loads(line)
        end = Ending(**{**row, "case": Case(**row["case"])})
        ends[end.case, end.patience] = end
    return ends


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One run: a space, a model, a seed and the evaluations that are allowed."""

    space: str
    model: str
    seed: int
    most: int


@dataclass(frozen=True, slots=True)
class Ending:
    """Where a run ends with a patience."""

    case: Case
    patience: int
    evaluations: int
    """Until the end, or as many as were allowed."""
    ended: bool
    """By itself."""
    loss: float
    """How far the fastest so far lies above the recorded best, relative to that."""

    def early(self, share: float) -> bool:
        """Whether it ended by itself, more than ``share`` above the best."""
        return self.ended and self.loss > share


@dataclass(slots=True, kw_only=True)
class Course:
    """A search of a recorded space without the loop of the tuner."""

    recorded: RecordedCandidates
    predicted: Floats
    """Seconds, (n,); nan for none."""
    search: ModelSearch
    order: list[int] = field(default_factory=list)
    """The rows that were evaluated."""
    launches: dict[int, int] = field(default_factory=dict)
    """By row that ran, the fastest beside each other one."""

    def first(self, seed: int, most: int) -> None:
        """Evaluate the first candidates, two at a time, as long as their order is as predicted."""
        rows = {identity: row for row, identity in enumerate(self.recorded.identities)}
        chosen = first_candidates(
            self.recorded.ranking(self.predicted),
            Selection(seed=seed, baseline=False),
            budget=most,
            baseline=None,
            prior={},
        )
        left = [rows[choice.candidate.identity] for choice in chosen]
        while left and not self._misled():
            for row in left[:2]:
                self.evaluate(row)
            left = left[2:]

    def _misled(self) -> bool:
        identities, seconds = self.recorded.identities, self.recorded.space.seconds
        seen = [row for row in self.launches if not np.isnan(self.predicted[row])]
        ranked = self.recorded.ranking(self.predicted).entries
        said = {entry.candidate.identity: entry.prediction for entry in ranked}
        times = DriftFreeTimes(
            times={identities[row]: float(seconds[row]) for row in seen},
            errors={identities[row]: self._error(row) for row in seen},
            drift={},
            noise=_ERROR,
        )
        return misled([said[identities[row]] for row in seen], times)

    def _error(self, row: int) -> float:
        """The standard error of the logarithm of a candidate's time."""
        return _ERROR / math.sqrt(self.launches[row])

    def evaluate(self, row: int) -> None:
        """Launch a candidate, and the fastest so far beside it."""
        fastest = self.fastest
        self.order.append(row)
        if self.recorded.space.statuses[row] != "ok":
            self.search.tell(SearchResult(index=row, seconds=None))
            return
        for launched in [row] if fastest is None else [row, fastest]:
            self.launches[launched] = self.launches.get(launched, 0) + 1
            seconds = float(self.recorded.space.seconds[launched])
            sigma = self._error(launched)
            self.search.tell(SearchResult(index=launched, seconds=seconds, sigma=sigma))

    @property
    def fastest(self) -> int | None:
        """The row of the fastest so far; None where none ran."""
        return min(self.launches, key=lambda row: self.recorded.space.seconds[row], default=None)

    @property
    def loss(self) -> float:
        """How far the fastest so far lies above the recorded best, relative to that."""
        space, fastest = self.recorded.space, self.fastest
        return math.inf if fastest is None else float(space.seconds[fastest]) / space.best - 1


def endings(
    recorded: RecordedCandidates, seconds: Floats, case: Case, patiences: Sequence[int]
) -> list[Ending]:
    """Where a search of a recorded space ends, with each patience; ``seconds``: predicted ones."""
    search = ModelSearch(recorded.points(seconds), seed=case.seed)
    policies = {p: dataclasses.replace(search.policy, patience=p) for p in patiences}
    course = Course(recorded=recorded, predicted=seconds, search=search)
    course.first(case.seed, case.most)
    ends: list[Ending] = []
    while policies:
        for patience, policy in list(policies.items()):
            search.policy = policy
            ended = search.finished(0) is not None
            if ended or len(course.order) >= case.most:
                ends.append(Ending(case, patience, len(course.order), ended, course.loss))
                del policies[patience]
        if policies:
            course.evaluate(search.ask(0)[0].index)
    return ends


def lines(ends: Sequence[Ending], models: Sequence[str], patiences: Sequence[int]) -> list[str]:
    """Shares of early ends and evaluations, and how they differ between models and patiences."""
    out = ["ended by itself more than 1 % / 5 % off, evaluations: means over spaces"]
    for model, patience in itertools.product(models, patiences):
        mine = _spaces(ends, model, patience)
        usual = _spaces(ends, model, patiences[0])
        cold = _spaces(ends, score.COLD, patience)
        means = [np.mean([value(mine[s]) for s in mine]) for value in (_early1, _early5, _count)]
        text = f"  {model:16s} patience {patience}: {means[0]:.3f} / {means[1]:.3f}, {means[2]:.1f}"
        if model != score.COLD and cold:
            text += f"; 1 % against cold {_change(mine, cold, _early1)}"
        if patience != patiences[0]:
            text += f"; against patience {patiences[0]} {_change(mine, usual, _early1)},"
            text += f" {_change(mine, usual, _grown)} of the evaluations"
        out.append(text)
    out += ["", f"space by space, patience {', '.join(map(str, patiences))}: early by 1 % of runs"]
    for space in sorted({end.case.space for end in ends}):
        cells = []
        for model in models:
            groups = [_spaces(ends, model, p).get(space, []) for p in patiences]
            early = "/".join(str(sum(end.early(0.01) for end in group)) for group in groups)
            cells += [f"{model} {early} of {len(groups[0])}"] if groups[0] else []
        out.append(f"  {space:18s} {', '.join(cells)}")
    return out


def _spaces(ends: Iterable[Ending], model: str, patience: int) -> dict[str, list[Ending]]:
    """The endings of a model with a patience, by space."""
    groups: dict[str, list[Ending]] = {}
    for end in ends:
        if (end.case.model, end.patience) == (model, patience):
            groups.setdefault(end.case.space, []).append(end)
    return groups


def _early1(group: Sequence[Ending]) -> float:
    return float(np.mean([end.early(0.01) for end in group]))


def _early5(group: Sequence[Ending]) -> float:
    return float(np.mean([end.early(0.05) for end in group]))


def _count(group: Sequence[Ending]) -> float:
    return float(np.mean([end.evaluations for end in group]))


def _grown(group: Sequence[Ending]) -> float:
    return float(np.log(_count(group)))


def _change(
    mine: Mapping[str, list[Ending]],
    other: Mapping[str, list[Ending]],
    value: Callable[[Sequence[Ending]], float],
) -> str:
    """The mean difference over the spaces of both, with its standard error over spaces."""
    differences = [value(mine[s]) - value(other[s]) for s in sorted(mine.keys() & other.keys())]
    error = np.std(differences, ddof=1) / math.sqrt(len(differences)) if differences[1:] else np.nan
    return f"{np.mean(differences):+.3f} +- {error:.3f}"


if __name__ == "__main__":
    main()
