"""RQ1 to RQ5 of Kaltenecker (2016, chapters 1 and 5.5), asked of recorded studies of one host.

The analytical model there is a sum of terms of the options; here it is the ECM model of the code
itself, which has no terms in the parameters. It is put into the same words: an influence model as
published, fitted to its predictions of *all* candidates. All comparisons are over the whole space.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import analytical_learned_tasks as tasks
import numpy as np

from autotune.learning.comparison.measures import Semantics
from autotune.results.report.text_table import columns
from autotune.statistics.rank_correlation import kendall

Done = Sequence[tuple[tasks.Task, tasks.Outcome]]
Fit = tuple[tasks.Sampled, tasks.Sample]
_RAW = "influence-raw"

_SEEN = 0.3
"""A rank correlation below this is called none."""
_MEASURES: Mapping[str, Callable[[Semantics], float | None]] = {
    "cosine": lambda s: s.cosine,
    "Jaccard": lambda s: s.jaccard,
    "MD": lambda s: s.manhattan,
    "ED": lambda s: s.euclidean,
    "MiD": lambda s: s.minkowski_3,
    "CD": lambda s: s.chebyshev,
    "tau-b": lambda s: s.tau_b,
}


def lines(done: Done) -> list[str]:
    """The five questions, each with its figures and what they answer."""
    fits = [(t, r) for t, r in done if isinstance(t, tasks.Sampled) and isinstance(r, tasks.Sample)]
    if not fits:
        return []
    failed = [(t, r) for t, r in done if isinstance(t, tasks.Sampled)]
    return [
        "", "## Research questions of Kaltenecker (2016), for these studies", "",
        *_first(fits), *_second(fits, failed), *_third(fits), *_fourth(fits), *_fifth(fits),
    ]  # fmt: skip


# --- RQ1 --------------------------------------------------------------------------------------


def _first(fits: Sequence[Fit]) -> list[str]:
    text = ["RQ1 Is it possible to identify the influences proposed by the analytical model?", ""]
    raw = [(t, r) for t, r in fits if t.model == _RAW]
    rows = [("of the analytical model's", "terms", "classes", "classes found by 27 random",
             "by 125", "by all", "influence of those", "terms found by all")]  # fmt: skip
    shares, scores = [], [r.published for _, r in raw if r.published is not None]
    for path in _paths(raw):
        own = [(t, r) for t, r in raw if t.path == path]
        few, more, all_of = (_random(own, 27), _random(own, 125), _full(own))
        if not (few and more and all_of):
            continue
        whole = all_of[0]
        shares.append(whole.share or 0.0)
        rows.append(
            (
                tasks.read(path).name,
                str(whole.analytical_terms),
                str(whole.analytical_classes),
                f"{_mean(r.classes for r in few):.1f}",
                f"{_mean(r.classes for r in more):.1f}",
                str(whole.classes),
                f"{100 * (whole.share or 0.0):.0f} %",
                str(whole.matched),
            )
        )
    above = sum(score > 0 for score in scores)
    answer = "the influential ones, yes; the same model, no" if _mean(shares) > 0.5 else "no"
    return [
        *text,
        columns(rows, right=range(1, 8)),
        f"A class is a set of parameters that a term is about. Of {len(scores)} syntactic scores"
        f" {above} are above 0 (his never were), the best {max(scores):.1f}.",
        f"Answer: {answer}. Learned from all rows, the classes found carry"
        f" {100 * _mean(shares):.0f} % of the analytical model's influence.",
        "",
    ]


# --- RQ2 --------------------------------------------------------------------------------------


def _second(fits: Sequence[Fit], tried: Done) -> list[str]:
    text = ["RQ2 Does the sampling design matter for how similar the models are?", ""]
    for model in (_RAW, "influence"):
        head = (model, "rows", "fits", "MAPE to times", "to analytical",
                "Jaccard", "syntactic (normalised)", "CPU ms")  # fmt: skip
        rows = [head]
        for design, size, own in _by_design([f for f in fits if f[0].model == model]):
            rows.append(
                (
                    design,
                    str(size),
                    str(len(own)),
                    _percents(r.measured.error_rate for r in own),
                    _percents(r.analytical.error_rate for r in own),
                    _numbers(r.analytical.jaccard for r in own),
                    _numbers(r.normalised for r in own),
                    f"{1000 * float(np.median([r.seconds for r in own])):.0f}",
                )
            )
        text += [columns(rows, right=range(1, 8)), ""]
    text.append(
        "median +- half the range between the quartiles of all fits of all studies; where a"
    )
    text.append("sum is not positive, it counts as a thousandth of the least time")
    text += [*_spread(fits), *_impossible(tried), ""]
    return text


def _by_design(fits: Sequence[Fit]) -> list[tuple[str, int, list[tasks.Sample]]]:
    found: dict[tuple[str, int], list[tasks.Sample]] = {}
    for task, sample in fits:
        rows = task.rows or 10**6
        found.setdefault((task.design, rows), []).append(sample)
    return [
        (design, round(_mean(r.rows for r in own)), own)
        for (design, _), own in sorted(found.items(), key=lambda item: (item[0][1], item[0][0]))
    ]


def _spread(fits: Sequence[Fit]) -> list[str]:
    """How far designs of a size differ, against how far draws of one design do."""
    rows = [("influence: standard deviation", "between designs", "between draws of random")]
    verdicts = []
    measures: tuple[tuple[str, Callable[[tasks.Sample], float]], ...] = (
        ("Jaccard to analytical", lambda r: r.analytical.jaccard or 0.0),
        ("log of MAPE to times", lambda r: math.log(r.measured.error_rate)),
    )
    for title, of in measures:
        for size in (27, 49, 125):
            found = [_deviations(fits, path, size, of) for path in _paths(fits)]
            pairs = [pair for pair in found if pair is not None]
            if pairs:
                between, within = _mean(b for b, _ in pairs), _mean(w for _, w in pairs)
                verdicts.append(between > within)
                rows.append((f"{title}, {size} rows", f"{between:.3f}", f"{within:.3f}"))
    yes = sum(verdicts)
    answer = "yes" if 2 * yes > len(verdicts) else "little"
    return [
        columns(rows, right=(1, 2)),
        f"Answer: {answer}: designs of a size differ more than draws of the random one in {yes} of"
        f" {len(verdicts)} rows of this table.",
    ]


def _deviations(
    fits: Sequence[Fit], path: str, size: int, of: Callable[[tasks.Sample], float]
) -> tuple[float, float] | None:
    """Of the means of the designs, and of the draws of the random one; None for too few."""
    own: dict[str, list[float]] = {}
    for task, r in fits:
        if (task.path, task.model, task.rows) == (path, "influence", size):
            own.setdefault(task.design, []).append(of(r))
    if len(own) < 2 or len(own.get("random", [])) < 2:
        return None
    means = [_mean(values) for values in own.values()]
    return float(np.std(means, ddof=1)), float(np.std(own["random"], ddof=1))


def _impossible(tried: Done) -> list[str]:
    """Designs that cannot be had, and those that are no samples."""
    reasons: dict[str, set[str]] = {}
    for task, outcome in tried:
        if isinstance(task, tasks.Sampled) and isinstance(outcome, tasks.Failure):
            reason = outcome.reason.split(": ", 1)[-1].split(";")[0]
            where = f"{task.design}{f' of {task.rows} rows' if task.rows else ''}"
            reasons.setdefault(where, set()).add(f"{tasks.read(task.path).name}, {reason}")
    text = [f"Not to be had: {where}: {'; '.join(sorted(why))}." for where, why in reasons.items()]
    sizes = sorted(
        f"{r.rows} of {len(tasks.read(t.path))}"
        for t, r in tried
        if isinstance(t, tasks.Sampled)
        and isinstance(r, tasks.Sample)
        and (t.design, t.model) == ("central-composite", _RAW)
    )
    if sizes:
        text.append(
            "Central composite designs cross the numbers with every category, and nearly all is"
            f" category here: {', '.join(sizes)} rows, no sample."
        )
    return text


# --- RQ3 --------------------------------------------------------------------------------------


def _third(fits: Sequence[Fit]) -> list[str]:
    text = ["RQ3 Is it of use to compare the models by their terms alone?", ""]
    rows = [("tau-b of the syntactic score with", "Jaccard to analytical", "MAPE to analytical",
             "MAPE to times", "terms")]  # fmt: skip
    seen: list[float] = []
    for path in _paths(fits):
        own = [r for t, r in fits if (t.path, t.model) == (path, _RAW)]
        score = [r.normalised for r in own]
        against = (
            [r.analytical.jaccard for r in own],
            [r.analytical.error_rate for r in own],
            [r.measured.error_rate for r in own],
            [float(r.terms) for r in own],
        )
        values = [_tau(score, other) for other in against]
        rows.append((tasks.read(path).name, *(_shown(v) for v in values)))
        seen += [abs(v) for v in values[2:3] if v is not None]
    strong = sum(v >= _SEEN for v in seen)
    answer = (
        "yes: models nearer in terms are nearer to the times, too"
        if strong > len(seen) / 2
        else "hardly: nearness in terms says little of nearness to the times"
    )
    return [
        *text,
        columns(rows, right=range(1, 5)),
        f"Answer: {answer} (|tau-b| of {_SEEN} or more in {strong} of {len(seen)} studies); the"
        " score says which influences were found, and no more.",
        "",
    ]


# --- RQ4 --------------------------------------------------------------------------------------


def _fourth(fits: Sequence[Fit]) -> list[str]:
    text = ["RQ4 Is it of use to compare them by similarities and distances?", ""]
    pairs = [r.analytical for _, r in fits]
    rows = [("analytical relative to learned", "5 %", "median", "95 %")]
    for name, of in (("error rate", lambda s: s.error_rate), *list(_MEASURES.items())[:2]):
        values = [v for s in pairs if (v := of(s)) is not None]
        low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
        rows.append((name, f"{low:.3f}", f"{middle:.3f}", f"{high:.3f}"))
    over = sum(s.error_rate > 1 for s in pairs) / len(pairs)
    near = sum((s.cosine or 0.0) > 0.9 for s in pairs) / len(pairs)
    falling = sum(s.manhattan > s.euclidean > s.minkowski_3 for s in pairs) / len(pairs)
    scaled = sum(_rising(s, 1e6) for s in pairs) / len(pairs)
    kept = [
        v
        for path in _paths(fits)
        if (v := _across(fits, path, lambda s: s.jaccard, lambda s: s.tau_b)) is not None
    ]
    return [
        *text,
        columns(rows, right=(1, 2, 3)),
        f"The error rate is above 100 % in {100 * over:.0f} % of the comparisons; the cosine is"
        f" above 0.9 in {100 * near:.0f} %, whatever the models.",
        f"MD > ED > MiD in {100 * falling:.0f} % with times in seconds and MD < ED < MiD in"
        f" {100 * scaled:.0f} % in microseconds: by his convention the distances say the unit.",
        f"Jaccard against rank correlation of the two models: tau-b {_mean(kept):.2f} in the mean.",
        "Answer: yes for the Jaccard similarity and the error rate, which have no unit; the cosine"
        " is blind to scale, the distances compare within one study and unit only."
        if near > 0.5
        else "Answer: yes for what has no unit; distances compare within one study and unit only.",
        "",
    ]


def _rising(s: Semantics, factor: float) -> bool:
    return s.manhattan * factor < s.euclidean * factor**2 < s.minkowski_3 * factor**3


# --- RQ5 --------------------------------------------------------------------------------------


def _fifth(fits: Sequence[Fit]) -> list[str]:
    text = ["RQ5 Do these measures go with the error rate?", ""]
    rows = [("tau-b with the error rate", *_MEASURES)]
    means: dict[str, list[float]] = {name: [] for name in _MEASURES}
    for side in ("analytical", "measured"):
        for path in _paths(fits):
            own = [getattr(r, side) for t, r in fits if t.path == path]
            values = {
                name: _tau([s.error_rate for s in own], [of(s) for s in own])
                for name, of in _MEASURES.items()
            }
            told = "to analytical" if side == "analytical" else "to times"
            rows.append((f"{tasks.read(path).name}, {told}", *map(_shown, values.values())))
            for name, value in values.items():
                if value is not None:
                    means[name].append(abs(value))
    ordered = sorted(means, key=lambda name: -_mean(means[name]))
    told = ", ".join(f"{name} {_mean(means[name]):.2f}" for name in ordered)
    yes = [name for name in ordered if _mean(means[name]) >= 0.5]
    answer = f"yes, {' and '.join(yes)} do" if yes else "none closely"
    return [
        *text,
        columns(rows, right=range(1, len(_MEASURES) + 1)),
        f"Answer: {answer}; mean |tau-b|: {told} (his: none does).",
        "",
    ]


# --- numbers ----------------------------------------------------------------------------------


def _across(
    fits: Sequence[Fit],
    path: str,
    first: Callable[[Semantics], float | None],
    second: Callable[[Semantics], float | None],
) -> float | None:
    own = [r.analytical for t, r in fits if t.path == path]
    return _tau([first(s) for s in own], [second(s) for s in own])


def _tau(first: Sequence[float | None], second: Sequence[float | None]) -> float | None:
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    return kendall([a for a, _ in pairs], [b for _, b in pairs]) if len(pairs) > 1 else None


def _paths(fits: Sequence[Fit]) -> list[str]:
    return list(dict.fromkeys(task.path for task, _ in fits))


def _random(fits: Sequence[Fit], rows: int) -> list[tasks.Sample]:
    return [r for t, r in fits if (t.design, t.rows) == ("random", rows)]


def _full(fits: Sequence[Fit]) -> list[tasks.Sample]:
    return [r for t, r in fits if t.design == tasks.FULL]


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return math.fsum(found) / len(found) if found else math.nan


def _percents(values: Iterable[float]) -> str:
    low, middle, high = np.quantile(list(values), [0.25, 0.5, 0.75])
    return f"{100 * middle:.1f} +- {50 * (high - low):.1f} %"


def _numbers(values: Iterable[float | None]) -> str:
    found = [value for value in values if value is not None]
    if not found:
        return "-"
    low, middle, high = np.quantile(found, [0.25, 0.5, 0.75])
    return f"{middle:.2f} +- {(high - low) / 2:.2f}"


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:+.2f}"
