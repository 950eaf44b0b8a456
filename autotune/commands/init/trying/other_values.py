"""Parameters run with other values: some fail, some change the answer or the amount of work.

What a name does not tell, a run does. A parameter that changes the answer, or whose value the time
follows in proportion, is no choice of the tuner.
"""

import re
import time
from collections.abc import Mapping

from autotune.commands.init.first_draft import Draft
from autotune.commands.init.trying.first_try import TriedDraft
from autotune.commands.init.trying.printed_numbers import printed_answers
from autotune.commands.init.trying.trial import output_of
from autotune.commands.init.work_amount import surely_how
from autotune.commands.init.yaml_text import Plain
from autotune.progress import Progress
from autotune.toolchain.child_process import ProcessOutcome
from autotune.workloads.program.measuring.printed_output import shown_lines

_BUDGET = 20.0
"""Seconds that all of these builds and runs may take together; one that would end later is not
begun."""
_PROPORTIONAL = 0.2
"""Relative distance of the ratio of times from the ratio of values."""
_TOO_LONG = 20
"""Times the run of the baseline beyond which a value is left out."""
_START = 2.0
"""Seconds more than that, for what a short run does not tell."""
_UNSEEN = "it may be an amount of work, and no answer is checked that would show it"
_CLEARLY = 0.05
"""Relative change of a time that follows a value."""
_SURE = 0.02
"""Seconds: shorter runs say nothing about proportions."""


def try_other_values(tried: TriedDraft, limit: float, progress: Progress) -> TriedDraft:
    """The draft without values that fail, and without parameters that change the work."""
    draft = tried.draft
    built = draft.observed.build_seconds if draft.observed else 0.0
    until = time.monotonic() + _BUDGET - built - _wall(tried.outcome)
    limit = min(limit, _START + _TOO_LONG * _wall(tried.outcome))
    names = [n for n, values in draft.parameters.items() if len(values) > 1 and n not in draft.safe]
    changed = dict[str, str]()
    seen = draft.observed
    # a run or a build that takes long is not repeated for every parameter
    cost = 2 * (max(seen.walls) + seen.build_seconds) if seen else 0.0
    for place, name in enumerate(names):
        if time.monotonic() + cost > until:
            break
        progress("try other values", place, len(names), name)
        why = _tried_values(tried, name, limit, until)
        if why:
            changed[name] = why
    if names:
        progress("try other values", len(names), len(names))
    for name, why in changed.items():
        draft.keep(name, why)
    return tried


def _tried_values(tried: TriedDraft, name: str, limit: float, until: float) -> str:
    """Why a parameter must keep its value; empty if it may vary.

    Values that fail are taken out of the draft.
    """
    draft = tried.draft
    base = draft.baseline[name]
    outcomes: dict[Plain, ProcessOutcome] = {}
    tested = set[Plain]()
    while untested := [v for v in _extremes(draft.parameters[name], base) if v not in tested]:
        value = untested[0]
        if time.monotonic() > until:
            break
        tested.add(value)
        candidate, key, detail, _ = tried.trial.build({name: value})
        outcome = None if detail else tried.trial.run(candidate, key, limit)
        if outcome is not None and outcome.ok and _reads(draft, outcome):
            outcomes[value] = outcome
            continue
        draft.parameters[name] = tuple(v for v in draft.parameters[name] if v != value)
        if outcome is not None and outcome.timed_out:
            draft.hints.append(
                f"left out: {name} {value}, whose run takes over {_TOO_LONG} times as long as that"
                f" with {base}"
            )
    if draft.observed is not None and draft.observed.answer is not None:
        for value, outcome in outcomes.items():
            if not _same_answer(draft, tried.outcome, outcome):
                return f"with {value} in place of {base} its answer is another"
    elif name not in draft.seen.levels:  # what a level is traded for is measured beside it
        why = _amount_unseen(name, base, tried.outcome, outcomes)
        if why:
            return why
    return _proportional(base, tried.outcome, outcomes)


def _amount_unseen(
    name: str, base: Plain, first: ProcessOutcome, outcomes: Mapping[Plain, ProcessOutcome]
) -> str:
    """Why a number may be an amount of work that no answer shows; empty if it may not."""
    if not isinstance(base, int) or base <= 1 or surely_how(name):
        return ""
    took = _wall(first)
    grows = all(
        (_wall(outcome) / took - 1) * (1 if value > base else -1) > _CLEARLY
        for value, outcome in outcomes.items()
        if isinstance(value, int)
    )
    return _UNSEEN if grows or took < _SURE else ""


def _extremes(values: tuple[Plain, ...], base: Plain) -> list[Plain]:
    """The last and the first value beside the baseline: the largest and the smallest number."""
    others = [value for value in values if value != base]
    return list(dict.fromkeys((others[-1], others[0]))) if others else []


def _reads(draft: Draft, outcome: ProcessOutcome) -> bool:
    """Whether what is optimised is found in the output of a run."""
    number = draft.observed.chosen if draft.observed else None
    if number is None:
        return True
    printed = shown_lines(f"{outcome.out}\n{outcome.err}")
    return any(re.search(number.pattern, line) for line in printed)


def _same_answer(draft: Draft, first: ProcessOutcome, other: ProcessOutcome) -> bool:
    """Whether a run printed the answer of the baseline, up to what rounding may change."""
    observed = draft.observed
    assert observed is not None
    assert observed.answer is not None
    answers, _ = printed_answers(output_of(first), output_of(other), tolerance=1e-4)
    return any(answer.pattern == observed.answer.pattern for answer in answers)


def _proportional(
    base: Plain, first: ProcessOutcome, outcomes: Mapping[Plain, ProcessOutcome]
) -> str:
    """Why the time says that a value is an amount of work; empty if it does not.

    Both a larger and a smaller value must change the time in proportion.
    """
    if not isinstance(base, int) or isinstance(base, bool) or base <= 0:
        return ""
    took = _wall(first)
    ratios = [
        (value / base, _wall(outcome) / took)
        for value, outcome in outcomes.items()
        if isinstance(value, int) and value > 0
    ]
    if len(ratios) < 2 or took < _SURE:
        return ""
    if all(abs(times / values - 1) < _PROPORTIONAL for values, times in ratios):
        return "its run takes as many times longer as it is larger: it is an amount of work"
    return ""


def _wall(outcome: ProcessOutcome) -> float:
    return float(outcome.usage.wall if outcome.usage else outcome.seconds)
