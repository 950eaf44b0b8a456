"""Why a candidate takes as long as predicted, and why longer than another: in words.

Sweeps are matched by the kernels that they compute (LC, RHS, APPROX ...), not by their names, so
that variants with different sweeps can be compared. If one candidate fuses kernels that the other
keeps separate, these kernels are compared together: ``APPROX+UPDATE``.
"""

import math
from collections.abc import Sequence

from autotune.domain.ranking import UNDECIDED, Difference, Role, odds, roles
from autotune.domain.results import Prediction, Uncertainty
from autotune.results.explanation.explained import ExplainedCandidate
from autotune.results.explanation.loop_words import compared, executed, in_words, main_loop
from autotune.units import show

_NAMED = 3
"""So many kernels are named one by one."""
_COUNTS = 0.05
"""A kernel below this share of the whole difference is not named."""
_CAUSE = 0.25
"""A part below this share of a kernel's difference is not given as its cause."""
_ALIKE = 0.01
"""Times nearer than this share are told as equal."""
IN_CORE = ("T_OL", "T_nOL")
_MOVING = "loads, stores and what shares their time"
"""T_nOL: in L1; operations on vectors and library calls, where these are measured or priced."""
WHOLE = ("sweep", "barrier", "communication")


def time(value: float) -> str:
    """A time with three digits and a readable unit."""
    return show(float(f"{value:.3g}"), "time")


def pair(first: float, second: float) -> tuple[str, str]:
    """Two times in the unit of the longer one.

    >>> pair(1.384e-3, 8.51e-4)
    ('1.38 ms', '0.851 ms')
    """
    unit, factor = next(
        ((unit, f) for unit, f in _UNITS if max(abs(first), abs(second)) >= f), _UNITS[-1]
    )
    return f"{first / factor:.3g} {unit}", f"{second / factor:.3g} {unit}"


_UNITS = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9))


# --- one candidate --------------------------------------------------------------------------


def alone(candidate: ExplainedCandidate) -> list[str]:
    """Why a candidate takes as long as predicted, as sentences.

    They name the kernels that take most of the step, the bottleneck of each, and the sources of
    uncertainty.
    """
    prediction = candidate.prediction
    if prediction.seconds is None:
        return [f"{candidate.name} has no predicted time: {prediction.reason}."]
    sentences = [f"Predicted: {candidate.name} takes {time(prediction.seconds)} per time step."]
    kernels = roles(prediction, prediction)
    for role in sorted(kernels, key=lambda r: -r.first)[:_NAMED]:
        share = role.first / prediction.seconds
        if share >= _COUNTS:
            sentences.append(
                f"{role.name}: {time(role.first)}, {100 * share:.0f} %; {_bound(candidate, role)}."
            )
    sentences += _rest(candidate, kernels)
    sentences += _doubts(candidate)
    return sentences


def _bound(candidate: ExplainedCandidate, role: Role) -> str:
    """The bottleneck of a kernel, in words."""
    kinds = {d.kind: d for d in role.parts if d.kind not in WHOLE}
    if not kinds:
        return "nothing is known of its parts"
    binding = [d for d in kinds.values() if _binds(d, role, first=True)]
    top = max(binding or kinds.values(), key=lambda d: d.first)
    text = f"{_carried(top.kind, top.first_count)} {time(top.first)}"
    others = [
        f"{_short(d.kind)} {time(d.first)}"
        for d in sorted(binding, key=lambda d: -d.first)
        if d is not top and d.first >= _CAUSE * top.first
    ]
    if others:
        text += f", beside {', '.join(others)}"
    hidden = kinds.get("T_OL")
    if hidden is not None and hidden not in binding and hidden.first >= _CAUSE * top.first:
        text += f", arithmetic {time(hidden.first)} is hidden"
    loop = main_loop(candidate, role)
    return text + (f"; {in_words(loop)}" if loop and top.kind in IN_CORE else "")


def _binds(part: Difference, role: Role, *, first: bool) -> bool:
    """Whether a part counts in the time of a candidate's sweeps: max(T_OL, all other parts).

    ``first``: of the first of two candidates. T_OL hides the other parts, or is hidden by them.
    """
    times = {d.kind: d.first if first else d.second for d in role.parts}
    whole, alone = role.first if first else role.second, times.get("T_OL", 0.0)
    others = any(times[kind] > 0 for kind in times if kind not in (*WHOLE, "T_OL"))
    bound_by_arithmetic = alone > 0 and (alone >= (1 - _ALIKE) * whole or not others)
    return (part.kind == "T_OL") == bound_by_arithmetic


def _carried(kind: str, rows: float) -> str:
    """Subject and verb for a part of a time: ``8 rows from L2 take``."""
    if kind == "T_OL":
        return "arithmetic in the core takes"
    if kind == "T_nOL":
        return f"{_MOVING} take"
    if kind == "stores":
        return "stores through the innermost cache take"
    if kind == "entry":
        return "entries into loops and starts of their streams take"
    if kind == "across":
        return "stores across lines take"
    if kind == "again":
        return "loads of lines still on the way take"
    if kind == "messages":
        return f"{rows:.0f} messages take" if rows else "messages take"
    return f"{_rows(rows)} from {kind} take" if rows else f"transfers from {kind} take"


def _rows(count: float) -> str:
    return f"{count:.0f} row{'' if round(count) == 1 else 's'}"


def _short(kind: str) -> str:
    return {"T_OL": "arithmetic", "T_nOL": _MOVING}.get(kind, kind)


def _rest(candidate: ExplainedCandidate, kernels: Sequence[Role]) -> list[str]:
    seconds = candidate.prediction.seconds or 1.0
    small = sum(r.first for r in sorted(kernels, key=lambda r: -r.first)[_NAMED:])
    sentences = [f"Other kernels: {time(small)}."] if small > _COUNTS * seconds else []
    for kind in ("barrier", "communication"):
        total = sum(p.seconds for p in candidate.prediction.parts if p.kind == kind)
        if total > _COUNTS * seconds:
            sentences.append(f"{kind.capitalize()}: {time(total)}, {100 * total / seconds:.0f} %.")
    return sentences


def _doubts(candidate: ExplainedCandidate) -> list[str]:
    """The interval in words, and the kinds of figures that contribute most to its width."""
    prediction = candidate.prediction
    if prediction.interval is None:
        return ["The engine states no interval."]
    text = f"Interval {' to '.join(pair(*prediction.interval))}"
    doubt = prediction.uncertainty
    if doubt is not None:
        shared = {_DOUBTS.get(name, name): abs(sigma) for name, sigma in doubt.shared.items()}
        worst = sorted((shared | {_LEFT_OUT: doubt.independent}).items(), key=lambda item: -item[1])
        named = [f"{name} ({_percent(sigma)})" for name, sigma in worst[:_NAMED] if sigma >= 0.01]
        text += f": unsure of {', '.join(named)}" if named else ""
    sentences = [f"{text}."]
    unsure = {part.kind for part in prediction.parts if part.extrapolated}
    if unsure:
        sentences.append(
            f"Estimated, not measured: {', '.join(_short(k) for k in sorted(unsure))}."
        )
    return sentences


def _percent(sigma: float) -> str:
    return f"+- {100 * sigma:.0f} %"


_LEFT_OUT = "what the model leaves out of this one"
_DOUBTS = {
    "core": "the in-core times",
    "overlap": "how far transfers overlap with work",
    "capacity": "how much of the caches is ours",
    "outbound": "what dirty lines cost",
    "foreign": "lines of other cores",
    "conflicts": "set conflicts",
    "barrier": "the barriers",
    "clock": "the clock",
    "model": "what the model leaves out of all",
    "memory": "how memory behaves",
    "tiles of memory": "tiles of data in memory",
    "threads": "steps of several threads",
    "short": "a parallel step this short",
    "approximate": "in-core times of another architecture",
    "irregular": "irregular access",
    "calls": "calls of functions",
    "crowded": "rows that crowd a cache set",
    "unmeasured": "bandwidths that nobody measured",
    "no barrier": "barriers without a figure",
    "contradiction": "figures that contradict one another",
    **{level: f"lines from {level}" for level in ("L2", "L3", "L4", "MEM")},
}
"""What a prediction may be unsure of, in words."""


# --- two candidates -------------------------------------------------------------------------


def against(candidate: ExplainedCandidate, other: ExplainedCandidate) -> list[str]:
    """The causes of the difference between two candidates, the largest first, as sentences."""
    a, b = candidate.prediction.seconds, other.prediction.seconds
    if a is None or b is None:
        return [
            f"{t.name} has no predicted time: {t.prediction.reason}."
            for t in (candidate, other)
            if t.prediction.seconds is None
        ]
    kernels = roles(candidate.prediction, other.prediction)
    whole = a - b
    sentences = [_headline(candidate.name, other.name, a, b)]
    named = [r for r in kernels if abs(r.first - r.second) >= _COUNTS * max(abs(whole), _ALIKE * b)]
    for role in named[:_NAMED]:
        sentences.append(_difference(candidate, other, role))
    rest = sum(r.first - r.second for r in kernels if r not in named[:_NAMED])
    if abs(rest) > _COUNTS * max(abs(whole), _ALIKE * b) and len(kernels) > len(named[:_NAMED]):
        names = ", ".join(r.name for r in kernels if r not in named[:_NAMED])
        sentences.append(f"The rest ({names}) takes {_more(rest)}.")
    for kind in ("barrier", "communication"):
        sentences += _other(candidate, other, kind, max(abs(whole), _ALIKE * b))
    sentences += _remarks(candidate, other)
    sentences.append(_confidence(candidate, other))
    return sentences


def alike(a: float, b: float) -> bool:
    """Whether two predicted times count as the same."""
    return abs(a - b) <= _ALIKE * b


def _headline(first: str, second: str, a: float, b: float) -> str:
    if alike(a, b):
        return f"Predicted: {first} and {second} take the same time ({' and '.join(pair(a, b))})."
    word, ratio = ("slower", a / b) if a > b else ("faster", b / a)
    times = " against ".join(pair(a, b))
    return f"Predicted: {first} is {ratio:.2f} x {word} than {second} ({times})."


def _more(seconds: float) -> str:
    return f"{time(abs(seconds))} {'more' if seconds > 0 else 'less'}"


def _difference(candidate: ExplainedCandidate, other: ExplainedCandidate, role: Role) -> str:
    """One kernel of two candidates in words: both times and the parts that differ."""
    gap = role.first - role.second
    causes = [
        d
        for d in sorted(role.parts, key=lambda d: -abs(d.first - d.second))
        if d.kind not in WHOLE and (d.first - d.second) * gap > 0
        if abs(d.first - d.second) >= _CAUSE * abs(gap)
    ]
    hidden = [d for d in causes if d.kind == "T_OL" and not _binds(d, role, first=gap > 0)]
    causes = [d for d in causes if _binds(d, role, first=gap > 0)]
    head = f"{role.name} takes {' against '.join(pair(role.first, role.second))}"
    sentences = [_cause(d, other.name) for d in causes[:2]]
    if any(d.kind in IN_CORE for d in causes[:2]):
        sentences += executed(candidate, other, role)
        moving = any(
            d.kind == "T_nOL" and not math.isclose(d.first, d.second, rel_tol=_ALIKE)
            for d in role.parts
        )
        sentences += compared(main_loop(candidate, role), main_loop(other, role), moving=moving)
    back = [
        d
        for d in role.parts
        if d.kind not in (*WHOLE, *IN_CORE) and (d.second - d.first) * gap >= _CAUSE * gap * gap
    ]
    sentences += [
        f"arithmetic in the core ({' against '.join(pair(d.first, d.second))}) is hidden"
        for d in hidden
    ]
    if causes:
        sentences += [f"but {_cause(d, other.name)}" for d in back[:1]]
    if not causes and not hidden:
        sentences = ["each of its parts is alike, they overlap less" if gap > 0 else
                "each of its parts is alike, they overlap more"]  # fmt: skip
    return f"{head}: {'; '.join(sentences)}."


def _cause(part: Difference, other: str) -> str:
    first, second = pair(part.first, part.second)
    if part.kind in IN_CORE or part.kind in ("stores", "entry", "across", "again", "messages"):
        return f"{_carried(part.kind, 0)} {first} against {second}"
    rows, beside = part.first_count, part.second_count
    if part.second == 0:
        return f"it streams {_rows(rows) + ' ' if rows else ''}from {part.kind} ({first})," \
            f" {other} none"  # fmt: skip
    if part.first == 0:
        return f"it streams nothing from {part.kind}, {other}" \
            f" {_rows(beside) if beside else 'does'} ({second})"  # fmt: skip
    if rows and beside and round(rows) != round(beside):
        return (
            f"it streams {_rows(rows)} from {part.kind} ({first})"
            f" where {other} streams {beside:.0f} ({second})"
        )
    return f"transfers from {part.kind} take {first} against {second}"


def _other(
    candidate: ExplainedCandidate, other: ExplainedCandidate, kind: str, scale: float
) -> list[str]:
    a, b = (
        sum(part.seconds for part in explained.prediction.parts if part.kind == kind)
        for explained in (candidate, other)
    )
    if abs(a - b) < _COUNTS * scale:
        return []
    verb = "Barriers take" if kind == "barrier" else "Communication takes"
    return [f"{verb} {' against '.join(pair(a, b))}."]


def _remarks(candidate: ExplainedCandidate, other: ExplainedCandidate) -> list[str]:
    """The remarks that apply to only one of two candidates: set conflicts, rough estimates."""
    sentences = []
    for ours, theirs in ((candidate, other), (other, candidate)):
        remarks = [note for note in ours.prediction.notes if note not in theirs.prediction.notes]
        if remarks:
            sentences.append(f"Only of {ours.name}: {'; '.join(remarks[:_NAMED])}.")
    return sentences


def _confidence(candidate: ExplainedCandidate, other: ExplainedCandidate) -> str:
    """How sure it is that two candidates differ; errors common to both do not count."""
    first, second = candidate.prediction, other.prediction
    likely = odds(first, second)
    if likely is None or first.uncertainty is None or second.uncertainty is None:
        return _by_intervals(first, second)
    sure, slower = max((1 - likely, candidate.name), (likely, other.name))
    alone = max(first.uncertainty.sigma, second.uncertainty.sigma)
    ratio = _between(first.uncertainty, second.uncertainty)
    word = "Told apart" if sure > 1 - UNDECIDED else "Not told apart by the prediction"
    return (
        f"{word}: {100 * min(sure, 0.999):.3g} % sure that {slower} is the slower one. Each time is"
        f" known to {_percent(alone)}, their ratio to {_percent(ratio)}."
    )


def _between(first: Uncertainty, second: Uncertainty) -> float:
    """Relative standard deviation of the ratio of two times; common errors cancel."""
    names = first.shared.keys() | second.shared.keys()
    apart = (first.shared.get(name, 0.0) - second.shared.get(name, 0.0) for name in names)
    return math.hypot(first.independent, second.independent, *apart)


def _by_intervals(first: Prediction, second: Prediction) -> str:
    """Whether two candidates differ, judged by whether each interval holds the other's time."""
    if first.interval is None or second.interval is None:
        return "Without intervals it is not known whether they can be told apart."
    assert first.seconds is not None
    assert second.seconds is not None
    inside = first.interval[0] <= second.seconds <= first.interval[1]
    inside = inside and second.interval[0] <= first.seconds <= second.interval[1]
    spans = " and ".join(
        " to ".join(pair(*interval)) for interval in (first.interval, second.interval)
    )
    if inside:
        return f"Not told apart by the prediction: the intervals are {spans}."
    return f"Told apart by the prediction: the intervals are {spans}."
