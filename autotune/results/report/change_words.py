"""Changes of a time and lists of values, in words."""

import numpy as np

from autotune.domain.metric import TIME, Metric
from autotune.domain.tables.parameter import Value

_LISTED = 5
"""Of more values the first ones and the last are given."""


def shown(value: Value) -> str:
    """A value as it is written in a sentence.

    >>> shown(4194304), shown(0.50), shown("ijk")
    ('4194304', '0.5', 'ijk')
    """
    return f"{value:g}" if isinstance(value, float) else str(value)


def trend(name: str, values: list[Value], size: float, goal: Metric = TIME) -> str:
    """The change of the time from the smallest to the largest value of a number, in words.

    ``size`` and ``goal``: as of ``change``.
    Also for each doubling, if the values are positive.
    """
    low, high = float(values[0]), float(values[-1])
    text = f"{name} from {shown(values[0])} to {shown(values[-1])}: {change(size, goal)}"
    if low <= 0:
        return text
    return f"{text}, {change(size / float(np.log2(high / low)), goal)} a doubling"


def change(size: float, goal: Metric = TIME) -> str:
    """A change of the time as words, from its logarithm to base 2.

    ``goal``: the objective; ``size`` is that of its cost, and the words are about its value.

    >>> change(-1.0), change(0.5), change(1.5), change(0.001)
    ('50 % less time', '41 % more time', '2.8 times the time', 'no change')
    >>> change(1.0, Metric("speed", "MB/s", "more"))
    '50 % less speed'
    """
    share = goal.value(2.0**size) - 1
    if abs(share) < 0.005:
        return "no change"
    if share > 0.99:
        times = share + 1
        return f"{f'{times:.2g}' if times < 99.5 else f'{times:.0f}'} times the {goal.name}"
    return f"{100 * abs(share):.0f} % {'more' if share > 0 else 'less'} {goal.name}"


def listed(slower: dict[str, list[str]], goal: Metric = TIME) -> str:
    """Changes of the time, smallest first, each with the values that cause it.

    >>> listed({"4 % more time": ["8", "16"], "2.1 times the time": ["none"]})
    '8 and 16 take 4 % more time, none takes 2.1 times the time'
    """
    verbs = ("takes", "take") if goal.timed else ("has", "have")
    phrases = [
        f"{few(names, 'and')} {verbs[len(names) > 1]} {change}" for change, names in slower.items()
    ]
    if len(phrases) > _LISTED:
        phrases = [*phrases[: _LISTED - 2], "...", phrases[-1]]
    return ", ".join(phrases)


def few(texts: list[str], word: str) -> str:
    """A list in words, the last joined by ``word``; a long list is cut.

    >>> few(["a", "b", "c"], "or"), few(list("abcdefgh"), "or")
    ('a, b or c', 'a, b, c, d or 4 others')
    """
    if len(texts) > _LISTED:
        texts = [*texts[: _LISTED - 1], f"{len(texts) - _LISTED + 1} others"]
    if len(texts) == 1:
        return texts[0]
    return f"{', '.join(texts[:-1])} {word} {texts[-1]}"
