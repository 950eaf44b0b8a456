"""What the benchmark ``analytical_learned`` prints of its learning curves, and where they cross."""

import math
from collections.abc import Sequence

import analytical_learned_tasks as tasks
import numpy as np

from autotune.commands.learn.compare.text import curve
from autotune.learning.comparison.curve_fits import Scoring, repeat_score
from autotune.learning.comparison.learning_curves import CurveTable, Kind, ModelScore, Trial, spread
from autotune.learning.comparison.noise_floor import Halves
from autotune.learning.comparison.payoff import Payoff, earliest
from autotune.learning.comparison.splits import SplitPlan
from autotune.results.report.text_table import columns

Done = Sequence[tuple[tasks.Task, tasks.Outcome]]
_TOP = 3


def lines(done: Done) -> list[str]:
    """The curves of every study, the values left out, and one line a study of where they cross."""
    text: list[str] = []
    whole: dict[str, CurveTable] = {}
    for path in dict.fromkeys(task.path for task, _ in done):
        name = tasks.read(path).name
        for split_plan, trials in _split_plans(path, done).items():
            found = _table(path, split_plan, trials)
            if found is None:
                continue
            apart = f", {split_plan.leave_out} left out" if split_plan.leave_out else ""
            text += ["", f"## {name}{apart}", "", curve(found)]
            if not split_plan.leave_out:
                whole[name] = found
    return [*text, *_summary(whole)] if whole else text


def _split_plans(path: str, done: Done) -> dict[SplitPlan, list[Trial]]:
    found: dict[SplitPlan, list[Trial]] = {}
    for task, outcome in done:
        if task.path == path and isinstance(task, tasks.Curve) and isinstance(outcome, Trial):
            found.setdefault(task.split_plan, []).append(outcome)
    return found


def _table(path: str, split_plan: SplitPlan, trials: Sequence[Trial]) -> CurveTable | None:
    """The repeats that are complete; None while there is none."""
    splits = tasks.splits(path, split_plan)
    full = len(tasks.MODELS) * len(split_plan.sizes)
    units: dict[tuple[int, str], list[Trial]] = {}
    for trial in trials:
        group = "" if trial.group is None else str(trial.group)
        units.setdefault((trial.repeat, group), []).append(trial)
    kept = {unit: found for unit, found in units.items() if len(found) == full}
    if not kept:
        return None
    halves = tasks.halves(path)
    size = split_plan.sizes[0]
    floor = [_floor(halves, splits[size, *unit].test) for unit in kept] if halves else []
    made = [trial for found in kept.values() for trial in found]
    repeats = len({repeat for repeat, _ in kept})
    return CurveTable(
        models=tasks.MODELS,
        kinds=tuple(_kind(model) for model in tasks.MODELS),
        split_plan=SplitPlan(
            sizes=split_plan.sizes, repeats=repeats, leave_out=split_plan.leave_out
        ),
        trials=tuple(made),
        tops=tasks.TOPS,
        floor=tuple(score for score in floor if score is not None),
        planned=len(made),
    )


def _floor(halves: Halves, test: "np.ndarray[tuple[int], np.dtype[np.intp]]") -> ModelScore | None:
    return repeat_score(halves.take(test), Scoring(tops=tasks.TOPS))


def _kind(model: str) -> Kind:
    if model == tasks.ANALYTICAL:
        return "analytical"
    return "hybrid" if model.startswith("am-") or model == "pool" else "learned"


# --- where learning pays ----------------------------------------------------------------------


def _summary(whole: dict[str, CurveTable]) -> list[str]:
    """One line a study: the engine, the noise, the best models, and from where they pay."""
    text = ["", "## Where learning starts to pay", ""]
    for k, title in ((None, "error rate (MAPE, median of splits)"), (_TOP, "top-3 loss (mean)")):
        head = (title, "engine", "again", "pool 16", "pool 64", "pool 256", "learning", "a hybrid")
        rows = [head]
        for name, found in whole.items():
            floor = found.floor_point("error_rate") if k is None else found.floor_loss(k)
            last = found.split_plan.sizes[-1]
            rows.append(
                (
                    name,
                    _value(found, tasks.ANALYTICAL, last, k),
                    "-" if floor is None else _share(floor.median if k is None else floor.mean),
                    *(_value(found, "pool", size, k) for size in (16, 64, 256)),
                    _from(earliest(found, "learned", k), last),
                    _from(earliest(found, "hybrid", k), last),
                )
            )
        text += [columns(rows, right=range(1, 6)), ""]
    text.append("from n: at n and at all larger sizes, the 90 % interval of the gain above 0 at n")
    text.append("again: one half of the rounds predicting the other; a perfect model errs about")
    text.append("half as much against both together")
    return [*text, *_better(whole)]


def _value(found: CurveTable, model: str, size: int, k: int | None) -> str:
    if size not in found.split_plan.sizes:
        return "-"
    point = found.point(model, size, "error_rate") if k is None else found.top_loss(model, size, k)
    return "-" if point is None else _share(point.median if k is None else point.mean)


def _share(value: float) -> str:
    return f"{100 * value:.1f} %" if math.isfinite(value) else "inf"


def _from(first: Payoff | None, up_to: int) -> str:
    if first is None:
        return "-"
    if first.seems is None:
        return f"never up to {up_to}"
    if first.sure is None:
        return f"from {first.seems}, not surely ({first.model})"
    return f"from {first.sure} ({first.model})"


def _better(whole: dict[str, CurveTable]) -> list[str]:
    """Over all studies: the mean of each model's error and loss by size."""
    text = []
    sizes = next(iter(whole.values())).split_plan.sizes
    for k, title in ((None, "error rate, mean of the studies"), (_TOP, "top-3 loss, the same")):
        rows = [(title, *(f"{size} rows" for size in sizes))]
        for model in tasks.MODELS:
            cells = []
            for size in sizes:
                points = [
                    found.point(model, size, "error_rate")
                    if k is None
                    else found.top_loss(model, size, k)
                    for found in whole.values()
                ]
                over = spread(
                    None if p is None else (p.median if k is None else p.mean) for p in points
                )
                cells.append("-" if over is None else _share(over.mean))
            rows.append((model, *cells))
        text += ["", columns(rows, right=range(1, len(sizes) + 1))]
    return text
