"""Results as words: names of candidates, objectives and residuals, the summary sentences."""

import math
import re
import shlex
from collections import Counter
from collections.abc import Sequence

from autotune.files.store.records import CandidateRecord
from autotune.language.constraint import Value
from autotune.results.evaluate.failing_settings import FailingSetting, failing_settings
from autotune.results.evaluate.study_evaluation import (
    EvaluatedCandidate,
    ProblemEvaluation,
)
from autotune.results.report.number_words import (
    NONE,
    duration,
    percent,
    seconds,
    signed,
    time_unit,
)
from autotune.statistics.residual_scales import Residual, ResidualFactor, worst
from autotune.units import counted, number_of_many, rough_percent

STATUS_WORDS = {
    "ok": "ok",
    "build-failed": "build failed",
    "crashed": "crashed",
    "timed-out": "timed out",
    "unreadable": "unreadable output",
    "wrong-result": "wrong result",
    "out-of-bounds": "out of bounds",
    "implausible": "implausible",
    "contended": "contended",
}

OBJECTIVE_WORDS = {
    "time": "time",
    "energy": "energy",
    "memory": "peak memory",
}


def name(candidate: CandidateRecord, result: ProblemEvaluation) -> str:
    """The variant of a candidate; also its layout if layouts differ within the problem.

    The first digits of its identity follow where other candidates have the same variant and
    layout, and differ in how they are built.
    """
    digits = result.names.get(candidate.identity, "").removeprefix(candidate.label)
    layout = f", {candidate.layout.words}" if result.layouts > 1 else ""
    return f"{candidate.variant}{digits}{layout}"


def built(candidate: CandidateRecord, result: ProblemEvaluation) -> str:
    """The name of a candidate; also its build if builds differ within the problem."""
    text = result.names.get(candidate.identity, candidate.id)
    return text if result.builds == 1 else f"{text} [{candidate.build.words}]"


def legal(result: ProblemEvaluation) -> str:
    """How many candidates a problem has: ``5400``, or ``more than 50000``."""
    candidates = result.space.candidates
    number = number_of_many(candidates)
    return number if result.space.exact else f"more than {number}"


def of_legal(count: int, result: ProblemEvaluation) -> str:
    """A number of tried candidates among all legal ones: ``5 of 26``.

    ``up to 26 of 26`` where more were tried than there are: some are no longer legal.
    """
    most = result.space.candidates
    if result.space.exact and count > most:
        return f"up to {most} of {most}"
    return f"{count} of {legal(result)}"


def lost(result: ProblemEvaluation, most: int = 3) -> str:
    """Which tried candidates are no longer legal, as a sentence; empty where all are."""
    rows = result.lost
    if not rows and not result.surplus:
        return ""
    if not rows:
        count, which = f"at least {result.surplus}", "; autotune tune --resume says which"
    else:
        names = [built(row.candidate, result) for row in rows[:most]]
        more = [f"{len(rows) - most} more"] if len(rows) > most else []
        count, which = str(len(rows)), f": {listed([*names, *more])}"
    verb = "is" if len(rows) == 1 or (result.surplus == 1 and not rows) else "are"
    return f"Of the candidates that were tried, {count} {verb} no longer legal{which}"


def status(row: EvaluatedCandidate) -> str:
    """The outcome of a candidate in words; empty if it was not measured."""
    return STATUS_WORDS[row.status] if row.status else ""


def shortly(reason: str) -> str:
    """Why a candidate was chosen, without what stands in brackets.

    >>> shortly("predicted place 7 of 640, not told apart from the first (with 2 % the fastest)")
    'predicted place 7 of 640, not told apart from the first'
    """
    return re.sub(r" \([^()]*\)", "", reason)


def objective(kind: str, value: float | None) -> str:
    """A value of an objective with its unit.

    >>> objective("energy", 0.0421)
    '42.10 mJ'
    """
    if value is None:
        return NONE
    if kind == "time":
        return seconds(value)
    unit, factor = unit_of(kind, value)
    return f"{value / factor:#.4g} {unit}".replace(". ", " ")


def objective_names(result: ProblemEvaluation) -> list[str]:
    """The names of the objectives of a front: of metrics as the program names them."""
    return [objective_name(kind, result) for kind in result.objectives]


def objective_name(kind: str, result: ProblemEvaluation) -> str:
    """The name of an objective; ``time`` stands for what is optimised."""
    return result.problem.goal.name if kind == "time" else kind


def named_objective(kind: str, cost: float | None, result: ProblemEvaluation) -> str:
    """The value of an objective or metric with this cost, with its unit."""
    quantity = result.problem.metric(kind)
    if cost is None or quantity.name in OBJECTIVE_WORDS:
        return objective(kind, cost)
    return quantity.show(cost)


def unit_of(kind: str, value: float) -> tuple[str, float]:
    """A readable unit for values of an objective up to ``value``, and its size in SI units."""
    if kind == "memory":
        sizes = (("GiB", 2.0**30), ("MiB", 2.0**20), ("KiB", 2.0**10))
        return next(((unit, factor) for unit, factor in sizes if value >= factor / 2), ("B", 1.0))
    unit, factor = time_unit(value)
    return (unit if kind == "time" else f"{unit[:-1]}J"), factor


def value_of(residual: Residual | ResidualFactor) -> str:
    """A parameter and its value: ``tile none``, ``flags -O3 -march=native``."""
    return f"{residual.parameter} {plain(residual.value)}"


def plain(value: Value) -> str:
    """The value of a parameter as it is written in a file.

    >>> plain(None), plain(True), plain("jli"), plain(8)
    ('none', 'true', 'jli', '8')
    """
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def first_words(detail: str, length: int = 160) -> str:
    r"""The most informative line of a failure's text; empty without text.

    That is what could not be read of an output, a line with an error, or how the program ended and
    the last line that it printed.

    >>> first_words("exit code 2\nprog: out of memory: 3 GiB refused")
    'exit code 2: prog: out of memory: 3 GiB refused'
    """
    lines = [line.strip() for line in detail.splitlines() if line.strip()]
    if not lines:
        return ""
    reason, printed, _ = lines[0].partition("; it printed:")
    if printed:
        return reason[:length]
    telling = next((line for line in lines if "error" in line.lower()), None)
    ended = lines[0].startswith(("exit code", "ended "))
    words = telling or (f"{lines[0]}: {lines[-1]}" if ended and len(lines) > 1 else lines[0])
    return words[:length]


def speedup(result: ProblemEvaluation) -> str:
    """The speed-up over the baseline with its interval, or why there is none, in words."""
    if result.best is None:
        return "no candidate has a time"
    if result.baseline is None:
        return "the study has no baseline"
    if result.baseline.status not in (None, "ok"):
        return f"none, for the baseline has no time: {result.baseline.status}"
    if result.speedup is None:
        return "no run compared the winner with the baseline"
    text = f"{result.speedup.value:.2f}x"
    builds = [row.candidate.build for row in (result.best, result.baseline)]
    if builds[0] != builds[1]:
        text += f" ({builds[0].words} against {builds[1].words}: the build is part of it)"
    if result.speedup.interval:
        low, high = result.speedup.interval
        text += f" ({low:.2f} to {high:.2f})"
    if result.speedup.crossed is not None:
        crossed = f"{result.speedup.crossed:.2f}x"
        text += f"; {crossed} where each round is scored with the winner of the others"
    return text + (f", {result.speedup.note}" if result.speedup.note else "")


def serial(result: ProblemEvaluation) -> str:
    """The fastest candidate of one thread, and how much faster the winner is with more; empty where
    the winner has one thread or none of one thread was compared.
    """
    best, alone, gain = result.best, result.serial, result.serial_speedup
    if best is None or alone is None:
        return ""
    goal = result.problem.goal
    count = sum(row.compared and row.candidate.layout.serial for row in result.rows)
    text = f"with one thread {built(alone.candidate, result)} is the best of {count} measured:"
    text += f" {seconds(alone.measured, goal)}"
    if gain is None:
        return text
    span = f" ({gain.interval[0]:.2f} to {gain.interval[1]:.2f})" if gain.interval else ""
    verb = "faster" if goal.timed else "better"
    role = "chosen one" if len(result.contenders) > 1 else "winner"
    return f"{text}; the {role}, {best.candidate.layout.words}, is {verb}: {gain.value:.2f}x{span}"


_SCALE = 3
"""So many values make a scale, which has ends."""
MORE_TIME = "Give it more time: autotune tune --resume with a larger --budget-seconds"


def unopposed(result: ProblemEvaluation) -> str:
    """That nothing is decided, where one candidate alone was measured; empty where more were."""
    if not result.unopposed or result.best is None:
        return ""
    alone = "baseline" if result.best is result.baseline else built(result.best.candidate, result)
    return f"no decision: only {of_legal(1, result)} candidates was measured, the {alone} alone"


def apart(config: str) -> str:
    """What says how candidates may be told apart; ``config``: the file of the study."""
    return f"autotune noise {shlex.quote(config)} says what would tell them apart"


_LEAST_REGRET = 1e-6
"""Where it is undecided, no choice is without a regret: none is printed as 0."""


def undecided(result: ProblemEvaluation, most: int = 3) -> str:
    """Between which candidates it is undecided, and which is chosen; empty where one has won."""
    rows, best = result.contenders, result.best
    if len(rows) < 2 or best is None:
        return ""
    names = [built(row.candidate, result) for row in rows[:most]]
    more = [f"{len(rows) - most} more"] if len(rows) > most else []
    why = "it was the fastest" if best is rows[0] else "it is most like the baseline"
    if best is rows[0] and min(rows, key=_time) is not best:
        why = "it was the fastest of those that were measured in enough rounds"
    if best is result.baseline:
        why = "it is the baseline"
    if result.regret is not None:
        regret = percent(max(result.regret, _LEAST_REGRET))
        why += f", with an expected regret of {regret} among the measured ones"
    return (
        f"undecided between {listed([*names, *more])}"
        f" (within {percent(undecided_width(result))});"
        f" {built(best.candidate, result)} is chosen because {why}"
    )


_PROMISING = 0.01
"""An expected improvement that is worth a longer search: a search ends by itself below it."""


def cut_short(result: ProblemEvaluation) -> str:
    """That a budget ended the search, how many were tried, and what the others promise; empty where
    the search ended by itself.
    """
    cut = result.cut
    if cut is None or result.unopposed:
        return ""
    text = f"{cut.why} after {of_legal(len(result.evaluated), result)} candidates: "
    if cut.promise is None:
        text += "what untried ones promise is not known"
    elif cut.promise < _PROMISING:
        promise = rough_percent(cut.promise)
        return f"{text}untried ones promise {promise} by the last model, too little to search on"
    else:
        text += f"untried ones still promise about {rough_percent(cut.promise)} by the last model"
    if cut.further:
        time = f", about {duration(cut.seconds)}," if cut.seconds is not None else ""
        text += f"; some {cut.further} more{time} are usually enough to come within 5 % of the best"
    return f"{text}; autotune tune --resume with a larger budget goes on"


def above_faster(result: ProblemEvaluation) -> str:
    """Why the winner, or the chosen one, which a table shows first, stands above rows with better
    times; empty where it does not.
    """
    best = result.best
    if best is None or best.measured is None:
        return ""
    rows = [row for row in result.evaluated if row.measured is not None and row is not best]
    faster = [row for row in rows if _time(row) < best.measured]
    alike = sum(row in result.contenders for row in faster)
    reasons = [f"{alike} not told apart from it"] if alike else []
    if others := sum(not row.compared for row in faster):
        reasons.append(f"{others} of other runs or of too few rounds, which do not compare")
    if few := len(faster) - alike - others:
        reasons.append(f"{few} of too few rounds to be chosen")
    rows_below = counted(len(faster), "row")
    role = "chosen" if len(result.contenders) > 1 else "the winner"
    return f"* is {role}, above {rows_below} with better times: {listed(reasons)}" * bool(faster)


def _time(row: EvaluatedCandidate) -> float:
    return math.inf if row.measured is None else row.measured


def undecided_width(result: ProblemEvaluation) -> float:
    """How much slower the slowest of those that may be the fastest is, a share; 0 where one has
    won.
    """
    times = [row.measured for row in result.contenders if row.measured is not None]
    return max(times) / min(times) - 1 if times else 0.0


def caution(result: ProblemEvaluation) -> str:
    """A warning if the winner was not compared with the baseline, or is not clearly faster."""
    if result.best is not None and result.baseline and result.baseline.status not in (None, "ok"):
        return (
            "the winner was compared with no baseline, so nothing says that it is a gain:"
            " mend the baseline, then tune --resume"
        )
    if result.speedup is None or result.best is result.baseline:
        return ""
    gain = "speed-up" if result.problem.goal.timed else "improvement"
    ends = result.speedup.interval
    if ends and ends[0] <= 1:
        return f"the {gain} is not sure: its interval holds 1.00x, which is none"
    spread = result.noise_floor.maximum if result.noise_floor else 0.0
    if result.speedup.value - 1 > spread:
        return ""
    if spread == 0:
        return f"there is no {gain} in the rounds that were compared"
    return (
        f"the {gain} is not above the noise floor ({percent(spread)}):"
        " a choice by half of the rounds may lose as much"
    )


def at_the_end(result: ProblemEvaluation) -> str:
    """Settings of a program's winner that lie at the end of their values, so that values beyond may
    be better still; empty where none does.
    """
    best = result.best
    if best is None or best is result.baseline or result.problem.stepped:
        return ""
    ends = []
    for name, value in best.candidate.parameters.items():
        values = result.space.parameters.get(name, ())
        numbers = sorted(v for v in values if not isinstance(v, bool | str | None))
        if len(numbers) < _SCALE or value not in (numbers[0], numbers[-1]):
            continue
        if value == numbers[-1]:
            ends.append(f"{name} = {plain(value)} is the largest of its values")
        elif numbers[0] > 1:
            ends.append(f"{name} = {plain(value)} is the smallest of its values")
    return f"{listed(ends)}: values beyond may be better still" if ends else ""


_TELLING = 5
"""With fewer candidates the predicted best is the best measured one by chance too often."""


def losses(result: ProblemEvaluation) -> str:
    """The losses of the predicted top k among the measured candidates, with the noise floor."""
    if not result.losses:
        return "no loss: nothing was both predicted and measured"
    parts = ", ".join(
        f"top {top.k} {percent(top.loss)}"
        if top.at_most is None
        else f"top {top.k} at most {percent(top.at_most)}"
        for top in result.losses
    )
    why = ""
    if any(top.at_most is not None for top in result.losses):
        why += "; at most: not all of them were measured"
    if any(top.loss is None and top.at_most is None for top in result.losses):
        why += "; -: none of them could be compared"
    count = of_legal(result.compared, result)
    if earlier := sum(row.measured is not None and not row.compared for row in result.evaluated):
        count += f" in the run that decides, {earlier} more in others or in too few rounds"
    few = "too few were measured to judge them; " if result.compared < _TELLING else ""
    text = f"{few}{parts} (measured: {count}{why}; {floor(result)})"
    if result.rank_correlation is not None:
        text += f"; rank correlation (Kendall's tau-b) {result.rank_correlation:.2f}"
    return text


_ORDERED = 0.3
"""Kendall's tau-b from which on the order of predictions is of use."""


def common_deviation(result: ProblemEvaluation) -> str:
    """By how much most predictions are too slow or too fast, and whether their order is of use;
    empty where they are not.
    """
    deviation, tau = result.common_deviation, result.rank_correlation
    if deviation is None:
        return ""
    count = deviation.candidates
    which = "all" if deviation.missed == count else f"{deviation.missed} of {count}"
    way, factor = (
        ("slow", deviation.ratio) if deviation.ratio > 1 else ("fast", 1 / deviation.ratio)
    )
    digits = 1 if factor < 10 else 0
    text = f"{which} predictions are too {way} by a factor of about {factor:.{digits}f} (median)"
    if tau is None:
        return text
    order = "may still be useful" if tau >= _ORDERED else "is of little use"
    return f"{text}; their order {order} (Kendall's tau-b {tau:.2f})"


def floor(result: ProblemEvaluation) -> str:
    """The noise floor of the run, in words; and what is undecided, where that is more.

    Where both halves choose the same candidate by chance, the floor is 0 and says nothing.
    """
    if result.noise_floor is None:
        return "noise floor unknown: it needs two rounds of two candidates"
    mean, maximum = result.noise_floor.mean, result.noise_floor.maximum
    text = f"noise floor {percent(mean)} mean, {percent(maximum)} max"
    same = "both halves of the rounds choose the same candidate"
    width = undecided_width(result)
    if maximum == 0:
        text = f"noise floor 0 %: {same}" if width == 0 else f"noise floor unknown: {same}, but"
        text += " that may be chance" * (width > 0)
    if width <= maximum:
        return text
    return f"{text}; the candidates that may be the fastest lie within {percent(width)}"


def errors(result: ProblemEvaluation, count: int = 3) -> str:
    """A sentence on the parameter values with the largest prediction errors; empty if none."""
    residuals = worst(result.residuals, count)
    if not residuals:
        return "" if result.compared < 2 else "No value stands out."
    listed_errors = ", ".join(
        f"{value_of(residual)} takes {math.exp(residual.excess):.2f} times what the others suggest"
        f" ({residual.candidates} candidates)"
        for residual in residuals
    )
    return f"{listed_errors}."


def choice(result: ProblemEvaluation, most: int = 4) -> str:
    """The Pareto front in words: the objectives of each of its candidates."""
    front, kinds = result.front, result.objectives
    if not front:
        return f"No candidate has all of {listed(objective_names(result))}"
    members = "; ".join(
        f"{name(row.candidate, result)} with"
        f" {', '.join(named_objective(kind, row.objectives[kind], result) for kind in kinds)}"
        for row in front[:most]
    )
    more = f"; and {len(front) - most} more" if len(front) > most else ""
    return f"Pareto front of {listed(objective_names(result))}: {members}{more}"


def listed(words: Sequence[str]) -> str:
    """Words as a list in a sentence.

    >>> listed(("time", "energy", "memory"))
    'time, energy and memory'
    """
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def convergence(result: ProblemEvaluation) -> str:
    """A sentence with the number of candidates tried and of those that failed."""
    tried = of_legal(len(result.evaluated), result)
    gone = f" {lost(result)}." if lost(result) else ""
    return f"{tried} candidates were tried, {len(result.failures)} failed.{gone}"


def sentences_of(problem: ProblemEvaluation, config: str = "CONFIG") -> list[str]:
    """The result of one problem in sentences: winner, speed-up, losses, failures.

    ``config``: the file of the study, for commands.
    """
    best = problem.best
    gone = [f"  {text}."] if (text := lost(problem)) else []
    if best is None:
        tried = len(problem.evaluated)
        what = f"none of {tried} tried candidates succeeded" if tried else "nothing was measured"
        return [f"{problem.label}: no winner, {what}.", *gone]
    per = " per time step" if problem.problem.stepped else ""
    goal = problem.problem.goal
    verb, gain = ("takes", "Speed-up") if goal.timed else (f"has {goal.name}", "Improvement")
    prediction = (
        f"predicted {seconds(best.predicted)}, deviation {signed(best.deviation)}"
        if best.predicted is not None
        else "not predicted"
    )
    lines = [
        f"{problem.label}: {built(best.candidate, problem)} {verb}"
        f" {seconds(best.measured, goal)}{per} ({prediction}).",
        *([f"  It is {text}.", f"  {apart(config)}."] if (text := undecided(problem)) else []),
    ]
    if problem.other_runs:
        lines.append(f"  {sentence(in_other_runs(problem))}")
    if text := cut_short(problem):
        lines.append(f"  {sentence(text)}")
    if problem.unopposed:
        lines += [f"  {sentence(unopposed(problem))}", f"  {MORE_TIME}."]
    else:
        lines.append(f"  {gain} over the baseline: {speedup(problem)}.")
    if serial(problem):
        lines.append(f"  {sentence(serial(problem))}")
    if any(row.predicted is not None for row in problem.rows):
        lines.append(f"  Losses of the predicted: {losses(problem)}.")
    if text := common_deviation(problem):
        lines.append(f"  {sentence(text)}")
    if caution(problem):
        lines.append(f"  Caution: {caution(problem)}.")
    if at_the_end(problem):
        lines.append(f"  {at_the_end(problem)}.")
    wrong = worst(problem.residuals, 3)
    if wrong:
        lines.append(f"  Where the model is wrong: {errors(problem)}")
    if problem.searched:
        lines.append(f"  {choice(problem)}.")
    failed = len(problem.failures)
    if failed:
        kinds = Counter(status(row) for row in problem.failures)
        counts = ", ".join(f"{count} {words}" for words, count in kinds.most_common())
        lines.append(f"  {failed} candidate{'s' if failed > 1 else ''} failed: {counts}.")
        lines += [f"  {_fails_with(setting)}." for setting in failing_settings(problem)]
    return [*lines, *gone]


def in_other_runs(result: ProblemEvaluation) -> str:
    """What the other runs of the study measured of the winner; empty without one."""
    goal, costs = result.problem.goal, sorted(result.other_runs)
    if not costs:
        return ""
    ends = " to ".join(dict.fromkeys(seconds(cost, goal) for cost in (costs[0], costs[-1])))
    runs = counted(len(costs), "other run")
    return f"in {runs} of this study it had {ends}: intervals are of one run"


def sentence(text: str) -> str:
    """Words as a sentence."""
    return f"{text[0].upper()}{text[1:]}."


def _fails_with(setting: FailingSetting) -> str:
    pairs = [(setting.name, setting.value), *setting.alike]
    shown = [str(v) if str(v).startswith("-") else f"{name} = {v}" for name, v in pairs]
    which = f"one of {', '.join(shown)}" if setting.alike else shown[0]
    return f"It fails with {which}: {setting.count} of {setting.count} tried candidates"
