"""What the runs of a replay say: shares and medians with their bounds, goals, who is ahead."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

NEVER = math.inf
_NORMAL = 1.959963984540054  # 97.5 % quantile: bounds of 95 %
_DRAWS = 2000

COLD, POOLED = "cold", "systematic 0.4"
OURS = "model"
SHARE_GOALS = {"5 %": 0.95, "1 %": 0.85}
"""Lower bound of the share of runs that are as near within 50 evaluations, all spaces pooled."""
AT = 50
MEDIAN_GOALS = {"dedisp": 20, "hipacc": 10, "conv": 50, "dune": 100}
"""Median evaluations to 5 % without a model, for the published spaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One search of one recorded space."""

    space: str
    method: str
    model: str
    seed: int
    budget: int
    to5: float
    """Evaluations until within 5 % of the recorded best; infinite: not within the budget."""
    to1: float
    stop: float
    """Evaluations after which the search itself would have stopped; infinite: it would not have
    before the run was within 1 %."""
    cpu: float
    """Seconds of CPU time."""
    steps: int
    """Evaluations that were made."""
    performance: float
    """P, against random search; see ``replay_performance``."""
    loss: float
    """Recorded time of the candidate that the search calls the fastest over that of the best, less
    1; infinite where it has none."""
    launches: int

    def to(self, share: str) -> float:
        return self.to5 if share == "5 %" else self.to1


def wilson(hits: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927).

    >>> [round(bound, 3) for bound in wilson(94, 100)]
    [0.875, 0.972]
    """
    if count == 0:
        return 0.0, 1.0
    share, z2 = hits / count, _NORMAL**2
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = _NORMAL / (1 + z2 / count)
    half *= math.sqrt(share * (1 - share) / count + z2 / (4 * count * count))
    return middle - half, middle + half


def median(values: Sequence[float], seed: int = 1) -> tuple[float, float, float]:
    """The median and its 95 % interval by bootstrap; runs that never got there are infinite."""
    times = np.sort(np.asarray(values, dtype=float))
    middle = (len(times) - 1) // 2
    generator = np.random.default_rng(seed)
    drawn = np.sort(generator.choice(len(times), (_DRAWS, len(times))), axis=1)[:, middle]
    low, high = np.quantile(drawn, (0.025, 0.975), method="nearest")
    return float(times[middle]), float(times[int(low)]), float(times[int(high)])


@dataclass(frozen=True, slots=True)
class ChosenOn:
    """The spaces, with ranges of seeds, on which settings of the search were chosen."""

    seeds: Mapping[str, range]

    @classmethod
    def read(cls, text: str) -> "ChosenOn":
        """From lines of a space and its first and last seed.

        >>> ChosenOn.read("dune 1-3 # tried").seeds
        {'dune': range(1, 4)}
        """
        seeds = {}
        for line in text.splitlines():
            if words := line.split("#")[0].split():
                low, high = words[1].split("-")
                seeds[words[0]] = range(int(low), int(high) + 1)
        return cls(seeds)

    def on_other_spaces(self, runs: Iterable[Run]) -> list[Run]:
        """The runs on spaces of which no seed was looked at."""
        return [run for run in runs if run.space not in self.seeds]

    def without(self, runs: Iterable[Run]) -> list[Run]:
        """The runs on which nothing was chosen."""
        return [run for run in runs if run.seed not in self.seeds.get(run.space, range(0))]


def clustered(runs: Sequence[Run], value: Callable[[Run], float]) -> tuple[float, float, float]:
    """The mean over spaces of their mean value, and its 95 % interval by bootstrap over spaces.

    Runs of one space are alike: other spaces, not other seeds, are what a mean is unsure of.
    """
    spaces = sorted({run.space for run in runs})
    means = np.array([np.mean([value(r) for r in runs if r.space == name]) for name in spaces])
    drawn = np.random.default_rng(1).choice(means, (_DRAWS, len(means))).mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(means.mean()), float(low), float(high)


def lines(runs: Sequence[Run], chosen_on: ChosenOn) -> list[str]:
    """Tables of all runs, the goals and whether they are met."""
    out: list[str] = []
    for model in ordered({run.model for run in runs}, COLD):
        out += ["", f"{model}: evaluations to 5 % / to 1 %, median [95 % interval] (runs there)"]
        of_model = [run for run in runs if run.model == model]
        for method in ordered({run.method for run in of_model}, OURS):
            out += [f"  {method}"]
            for space in sorted({run.space for run in of_model}):
                group = _of(of_model, space, method)
                if group:
                    score = float(np.mean([run.performance for run in group]))
                    cells = f"{_cell(group, '5 %')}   {_cell(group, '1 %')}   P {score:5.2f}"
                    out += [f"    {space:22s} {cells}"]
    held = chosen_on.without(runs)
    if held:
        out += ["", f"{len(held)} runs on which no setting was chosen", *headline(held)]
    else:
        out += ["", "settings were chosen on all of these runs: no headline (--first-seed)"]
    fresh = chosen_on.on_other_spaces(held)
    if 0 < len(fresh) < len(held):
        out += ["", f"{len(fresh)} runs on spaces that no setting was chosen on", *headline(fresh)]
    elif held and not fresh:
        out += ["", "settings were chosen on other seeds of all of these spaces"]
    out += ["", *goals(runs, held), "", *ended(runs), "", *ahead(runs), "", *costs(runs)]
    return out


def headline(runs: Sequence[Run]) -> list[str]:
    """Of every method and model: P, and the shares near the best, averaged over spaces."""
    out = [f"mean over spaces [95 % interval by bootstrap over spaces], {AT} evaluations:"]
    for model in ordered({run.model for run in runs}, COLD):
        for method in ordered({run.method for run in runs if run.model == model}, OURS):
            group = [run for run in runs if (run.model, run.method) == (model, method)]
            cells = [f"P {interval_text(clustered(group, lambda run: run.performance))}"]
            for share in SHARE_GOALS:
                near = clustered(group, lambda run, share=share: float(run.to(share) <= AT))
                cells.append(f"within {share} {interval_text(near)}")
            spaces = len({run.space for run in group})
            out.append(
                f"  {model}, {method} ({len(group)} runs, {spaces} spaces): {', '.join(cells)}"
            )
    return out


def interval_text(values: tuple[float, float, float]) -> str:
    """A value with its interval."""
    middle, low, high = values
    return f"{middle:.3f} [{low:.3f}, {high:.3f}]"


def goals(runs: Sequence[Run], held: Sequence[Run]) -> list[str]:
    """The stated goals, on all runs and on those that no setting was chosen on (``held``)."""
    out = []
    for share, goal in SHARE_GOALS.items():
        for title, some in (("all runs", runs), ("runs not chosen on", held)):
            group = [run for run in some if run.method == OURS and run.model == POOLED]
            if group:
                hits = sum(run.to(share) <= AT for run in group)
                low, high = wilson(hits, len(group))
                out.append(
                    f"{POOLED}, {AT} evaluations, within {share}, {title}: {hits}/{len(group)} ="
                    f" {hits / len(group):.3f} [{low:.3f}, {high:.3f}]; goal >= {goal:.2f} at the"
                    f" lower bound: {_met(low >= goal)}"
                )
    for start, goal in MEDIAN_GOALS.items():
        group = [
            run
            for run in runs
            if run.method == OURS and run.model == COLD and run.space.startswith(start)
        ]
        if group:
            middle = median([run.to5 for run in group])[0]
            out.append(
                f"cold, {start}: median to 5 % {_count(middle, group)};"
                f" goal <= {goal}: {_met(middle <= goal)}"
            )
    return out


def ended(runs: Sequence[Run]) -> list[str]:
    """How often our search would have ended by itself, and how often too early.

    The runs go on to their budget, as those of the peers; a tuner stops there.
    """
    out = []
    ours = [run for run in runs if run.method == OURS]
    for model in ordered({run.model for run in ours}, COLD):
        group = [run for run in ours if run.model == model]
        before = ", ".join(
            f"{sum(run.stop < run.to(share) for run in group)} before they were within {share}"
            for share in SHARE_GOALS
        )
        own = sum(math.isfinite(run.stop) for run in group)
        out.append(f"{model}: {own} of {len(group)} runs would have ended by themselves, {before}")
    return out


def ahead(runs: Sequence[Run]) -> list[str]:
    """Ours against every peer without a model, space by space.

    By the median; where neither median lies within the smaller budget, by the share of runs that
    are there by then.
    """
    cold = [run for run in runs if run.model == COLD]
    out = []
    for peer in sorted({run.method for run in cold if not run.method.startswith(OURS)}):
        for share in SHARE_GOALS:
            behind = [
                space
                for space in sorted({run.space for run in cold})
                if _behind(_of(cold, space, OURS), _of(cold, space, peer), share)
            ]
            told = f"behind or level on {', '.join(behind)}" if behind else "ahead on every space"
            out.append(f"cold, to {share}, against {peer}: {told}")
    return out


def costs(runs: Sequence[Run]) -> list[str]:
    """CPU time of a step of each of our methods, by space."""
    out = []
    for method in ordered({run.method for run in runs if run.method.startswith(OURS)}, OURS):
        for space in sorted({run.space for run in runs}):
            group = _of(runs, space, method)
            steps = sum(run.steps for run in group)
            if steps:
                each = 1e3 * sum(run.cpu for run in group) / steps
                out.append(f"{method}, {space}: {each:.0f} ms of CPU time a step")
    return out


def _behind(ours: Sequence[Run], peer: Sequence[Run], share: str) -> bool:
    if not ours or not peer:
        return False
    limit = min(run.budget for run in [*ours, *peer])
    mine, theirs = (median([run.to(share) for run in group])[0] for group in (ours, peer))
    if min(mine, theirs) <= limit:
        return mine >= theirs
    return _reached(ours, share, limit) <= _reached(peer, share, limit)


def _reached(group: Sequence[Run], share: str, limit: float) -> float:
    return sum(run.to(share) <= limit for run in group) / len(group)


def _of(runs: Iterable[Run], space: str, method: str) -> list[Run]:
    return [run for run in runs if run.space == space and run.method == method]


def _cell(group: Sequence[Run], share: str) -> str:
    middle, low, high = median([run.to(share) for run in group])
    there = sum(math.isfinite(run.to(share)) for run in group)
    span = f"[{_count(low, group)}, {_count(high, group)}]"
    return f"{share}: {_count(middle, group):>5s} {span:13s} ({there}/{len(group)})"


def _count(value: float, group: Sequence[Run]) -> str:
    return f"{value:.0f}" if math.isfinite(value) else f">{min(run.budget for run in group)}"


def _met(met: bool) -> str:
    return "met" if met else "NOT MET"


def ordered(names: Iterable[str], first: str) -> list[str]:
    """Names in alphabetical order, one of them before all others."""
    return sorted(names, key=lambda name: (name != first, name))


def parsed(row: Mapping[str, object]) -> Run:
    """A run as it was written to the file of results."""

    def number(name: str) -> float:
        value = row[name]
        return NEVER if value is None else float(str(value))

    return Run(
        space=str(row["space"]),
        method=str(row["method"]),
        model=str(row["model"]),
        seed=int(number("seed")),
        budget=int(number("budget")),
        to5=number("to5"),
        to1=number("to1"),
        stop=number("stop"),
        cpu=number("cpu"),
        steps=int(number("steps")),
        performance=number("performance"),
        loss=number("loss"),
        launches=int(number("launches")),
    )
