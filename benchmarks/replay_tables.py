"""Tables of a replay: our search beside every peer, space by space, with errors and verdicts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import numpy as np
from replay_score import COLD, NEVER, OURS, Run, clustered, interval_text, ordered
from scipy import stats

Verdict = Literal["ahead", "within noise", "behind", "too few runs"]
_MARKS: dict[Verdict, str] = {"ahead": "+", "within noise": "=", "behind": "-", "too few runs": "?"}


def verdict(ours: Sequence[float], peer: Sequence[float]) -> Verdict:
    """Whether the mean of ours is surely the greater one: by Welch's t test of 95 %.

    >>> verdict([0.9, 0.8, 0.85], [0.1, 0.2, 0.3]), verdict([0.9, 0.1], [0.2, 0.8])
    ('ahead', 'within noise')
    """
    if min(len(ours), len(peer)) < 2:
        return "too few runs"
    squares = np.array([np.var(ours, ddof=1) / len(ours), np.var(peer, ddof=1) / len(peer)])
    difference, half = float(np.mean(ours) - np.mean(peer)), 0.0
    if squares.sum() > 0:
        freedom = squares.sum() ** 2 / (squares**2 / [len(ours) - 1, len(peer) - 1]).sum()
        half = float(stats.t.ppf(0.975, freedom) * np.sqrt(squares.sum()))
    low, high = difference - half, difference + half
    return "ahead" if low > 0 else "behind" if high < 0 else "within noise"


def peers(runs: Sequence[Run]) -> list[str]:
    """P of our search beside every peer, for each setting without a model; then what that says."""
    out: list[str] = []
    for setting in ordered({run.model for run in runs if run.model.startswith(COLD)}, COLD):
        group = [run for run in runs if run.model == setting]
        methods = ordered({run.method for run in group}, OURS)
        if OURS in methods and len(methods) > 1:
            out += ["", *_table(setting, methods, group)]
            out += [_against(peer, group) for peer in methods[1:]]
    return out


def _table(setting: str, methods: Sequence[str], runs: Sequence[Run]) -> list[str]:
    budget = min(run.budget for run in runs)
    widths = [max(len(method), 10) for method in methods]
    title = (
        f"{setting}: P to {budget} evaluations, mean and standard error over seeds; we are"
        " ahead (+), within noise (=) or behind (-), by Welch's t test of 95 %"
    )
    head = "  ".join(f"{m:>{w}s}" for m, w in zip(methods, widths, strict=True))
    out = [title, f"  {'':22s}{head}"]
    for space in sorted({run.space for run in runs}):
        values = {m: _scores(runs, space, m) for m in methods}
        cells = [
            f"{_cell(values[m], values[OURS] if m != OURS else None):>{w}s}"
            for m, w in zip(methods, widths, strict=True)
        ]
        out.append(f"  {space:22s}{'  '.join(cells)}")
    return out


def _cell(peer: Sequence[float], ours: Sequence[float] | None) -> str:
    if not peer:
        return "none"
    error = float(np.std(peer, ddof=1) / np.sqrt(len(peer))) if len(peer) > 1 else np.nan
    mark = "" if ours is None else f" {_MARKS[verdict(ours, peer)]}"
    return f"{np.mean(peer):.2f} {error:.2f}{mark}"


def _against(peer: str, runs: Sequence[Run]) -> str:
    """What all spaces say of a peer: the mean difference of P with its interval over spaces."""
    words: list[Verdict] = []
    differences = []
    for space in sorted({run.space for run in runs}):
        ours, theirs = _scores(runs, space, OURS), _scores(runs, space, peer)
        if ours and theirs:
            words.append(verdict(ours, theirs))
            differences.append(float(np.mean(ours) - np.mean(theirs)))
    if len(differences) < 2:
        return f"  against {peer}: too few spaces"
    drawn = np.random.default_rng(1).choice(differences, (2000, len(differences))).mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    whole = "ahead" if low > 0 else "behind" if high < 0 else "within noise"
    counts = ", ".join(f"{word} on {words.count(word)}" for word in _MARKS if word in words)
    return (
        f"  against {peer}: {whole}; mean difference of P over {len(differences)} spaces"
        f" {np.mean(differences):.3f} [{low:.3f}, {high:.3f}]; {counts}"
    )


def beside(runs: Sequence[Run]) -> list[str]:
    """Every method in all settings without a model, failing candidates and noise beside neither.

    On the spaces that have runs in all settings.
    """
    cold = [run for run in runs if run.model.startswith(COLD)]
    settings = ordered({run.model for run in cold}, COLD)
    if len(settings) < 2:
        return []
    spaces = set.intersection(*({r.space for r in cold if r.model == s} for s in settings))
    out = [f"mean over {len(spaces)} spaces that have runs in all settings: P, within 5 %, 1 %"]
    for method in ordered({run.method for run in cold}, OURS):
        out.append(f"  {method}")
        for setting in settings:
            group = [r for r in cold if (r.method, r.model) == (method, setting)]
            group = [r for r in group if r.space in spaces]
            if group:
                near = [clustered(group, _within(share))[0] for share in ("5 %", "1 %")]
                mean = clustered(group, lambda run: run.performance)[0]
                out.append(f"    {setting:28s} {mean:6.2f}  {near[0]:.2f}  {near[1]:.2f}")
    return out


def lost(runs: Sequence[Run]) -> list[str]:
    """Evaluations that our search loses by what it was told, against being told nothing.

    Runs are paired by space and seed, and one that never gets there counts its whole budget. The
    mean is over spaces, with its interval by bootstrap over spaces.
    """
    ours = [run for run in runs if run.method.startswith(OURS) and "," not in run.model]
    cold = {(r.space, r.seed): r for r in ours if (r.method, r.model) == (OURS, COLD)}
    out: list[str] = []
    for model, method in sorted({(r.model, r.method) for r in ours} - {(COLD, OURS)}):
        group = [r for r in ours if (r.model, r.method) == (model, method)]
        group = [r for r in group if (r.space, r.seed) in cold]
        cells = [
            f"to {share} {_signed(clustered(group, _later(share, cold)))},"
            f" median {np.median([_later(share, cold)(run) for run in group]):+.0f}"
            for share in ("5 %", "1 %")
            if group
        ]
        if cells:
            out.append(f"  {model}, {method} ({len(group)} pairs): {'; '.join(cells)}")
    title = "evaluations lost against our search cold, mean over spaces [95 %]; negative: gained"
    return [title, *out] if out else []


def _later(share: str, cold: Mapping[tuple[str, int], Run]) -> Callable[[Run], float]:
    def later(run: Run) -> float:
        other = cold[run.space, run.seed]
        limit = min(run.budget, other.budget)
        return min(run.to(share), limit) - min(other.to(share), limit)

    return later


def _signed(values: tuple[float, float, float]) -> str:
    middle, low, high = values
    return f"{middle:+.1f} [{low:+.1f}, {high:+.1f}]"


def named(runs: Sequence[Run]) -> list[str]:
    """With drawn times: the recorded time of what a method calls the fastest, and the launches."""
    noisy = [run for run in runs if "noise" in run.model]
    out: list[str] = []
    for setting in sorted({run.model for run in noisy}):
        out.append(f"{setting}: recorded time of what it calls the fastest, over the best")
        for method in ordered({run.method for run in noisy if run.model == setting}, OURS):
            group = [run for run in noisy if (run.method, run.model) == (method, setting)]
            out.append(f"  {method:18s} {_loss(group)}")
    return out


def _loss(group: Sequence[Run]) -> str:
    near = (
        f"within {share:.0%} {interval_text(clustered(group, _named_within(share)))}"
        for share in (0.05, 0.01)
    )
    lucky = np.mean([run.to5 < NEVER and run.loss > 0.05 for run in group])
    launches = sum(run.launches for run in group) / sum(run.steps for run in group)
    return (
        f"median {np.median([run.loss for run in group]):.1%}, {', '.join(near)};"
        f" had one within 5 % and named another in {lucky:.0%};"
        f" {launches:.1f} launches a candidate ({len(group)} runs)"
    )


def _named_within(share: float) -> Callable[[Run], float]:
    return lambda run: float(run.loss <= share)


def _within(share: str) -> Callable[[Run], float]:
    return lambda run: float(run.to(share) < NEVER)


def _scores(runs: Iterable[Run], space: str, method: str) -> list[float]:
    return [run.performance for run in runs if (run.space, run.method) == (space, method)]
