"""Undoes one-hot encoding: a group of flags of which each row sets exactly one becomes one
parameter.

The rule uses only the values, so it holds for any table:

1. Flags (columns of 0 and 1) of which every row sets exactly one become one parameter.
2. Of the remaining flags, three or more of which no row sets two become one parameter, with the
   value ``none`` for rows that set none of them.
3. Where the names in a group differ only in numbers (``bs_64x2``, ``bs_128x1``), the numbers become
   the parameters.

Nothing is lost: rows that differ before decoding differ after it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autotune.files.recorded.recorded_space import Setting

NONE = "none"
_FEWEST_LOOSE = 3
_MOST_TRIED = 100_000
Flag = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class FlagGroup:
    """Flags that encode one parameter; ``loose``: a row may set none of them."""

    members: tuple[str, ...]
    loose: bool


def decode(columns: Mapping[str, Sequence[Setting]]) -> dict[str, list[Setting]]:
    """The columns of a table, with each group of flags replaced by the parameters that it encodes.

    >>> decode({"a": [1, 0, 0], "b": [0, 1, 0], "c": [0, 0, 1], "size": [4, 8, 8]})
    {'a/b/c': ['a', 'b', 'c'], 'size': [4, 8, 8]}
    """
    flags = {
        name: np.array(values, dtype=bool)
        for name, values in columns.items()
        if set(values) == {0, 1}
    }
    flag_groups = groups(flags)
    leader = {group.members[0]: group for group in flag_groups}
    inside = {member for group in flag_groups for member in group.members}
    decoded: dict[str, list[Setting]] = {}
    for name, values in columns.items():
        if name in leader:
            decoded |= _unpacked(leader[name], flags, set(columns) | set(decoded))
        elif name not in inside:
            decoded[name] = list(values)
    return decoded


def groups(flags: Mapping[str, Flag]) -> list[FlagGroup]:
    """The groups of flags, in the order of their first members."""
    left = dict(flags)
    flag_groups = []
    for name in flags:
        members = _partition(name, left) if name in left else None
        if members:
            flag_groups.append(FlagGroup(members, loose=False))
            left = {key: flag for key, flag in left.items() if key not in members}
    for name in list(left):
        members = _exclusive(name, left) if name in left else ()
        if len(members) >= _FEWEST_LOOSE:
            flag_groups.append(FlagGroup(members, loose=True))
            left = {key: flag for key, flag in left.items() if key not in members}
    order = list(flags)
    return sorted(flag_groups, key=lambda group: order.index(group.members[0]))


def _partition(name: str, flags: Mapping[str, Flag]) -> tuple[str, ...] | None:
    """Flags, including ``name``, of which every row sets exactly one; None where there are none.

    The search takes the first row that no chosen flag covers and tries the flags that cover it.
    """
    tried = 0

    def extend(chosen: list[str], covered: Flag) -> list[str] | None:
        nonlocal tried
        tried += 1
        if covered.all() or tried > _MOST_TRIED:
            return chosen if covered.all() else None
        row = int(np.argmin(covered))
        for key, flag in flags.items():
            if flag[row] and not (flag & covered).any():
                whole = extend([*chosen, key], covered | flag)
                if whole is not None:
                    return whole
        return None

    members = extend([name], flags[name])
    return None if members is None else tuple(key for key in flags if key in members)


def _exclusive(name: str, flags: Mapping[str, Flag]) -> tuple[str, ...]:
    """The flag ``name`` and later flags that no row sets together, selected in order."""
    members, covered = [name], flags[name]
    later = list(flags)[list(flags).index(name) + 1 :]
    for key in later:
        if not (flags[key] & covered).any():
            members.append(key)
            covered = covered | flags[key]
    return tuple(members)


def _unpacked(
    group: FlagGroup, flags: Mapping[str, Flag], taken: set[str]
) -> dict[str, list[Setting]]:
    members = np.array([flags[member] for member in group.members])
    position = np.where(members.any(axis=0), members.argmax(axis=0), len(group.members))
    stem = _stem(group.members)
    labels: list[Setting] = [member.removeprefix(stem) for member in group.members]
    numbers = None if group.loose else _numbers([str(label) for label in labels])
    title = stem.rstrip("_.-=:") or "/".join(group.members)
    if numbers is None:
        labels.append(NONE)
        return {_unused(title, taken): [labels[p] for p in position]}
    varied = [i for i in range(len(numbers[0])) if len({row[i] for row in numbers}) > 1]
    names = (
        [title] if len(varied) == 1 else [f"{title}.{place + 1}" for place in range(len(varied))]
    )
    return {
        _unused(name, taken): [numbers[p][i] for p in position]
        for name, i in zip(names, varied, strict=True)
    }


def _stem(members: Sequence[str]) -> str:
    """The common beginning of all names, up to a separator: ``bs_`` for ``bs_64`` and
    ``bs_128``.
    """
    match = re.match(r"(.*[_.=:-])[^_.=:-]*\Z", members[0], re.DOTALL)
    while match is not None:
        stem = match.group(1)
        if all(member.startswith(stem) and member != stem for member in members):
            return stem
        match = re.match(r"(.*[_.=:-])[^_.=:-]*\Z", stem.rstrip("_.=:-"), re.DOTALL)
    return ""


def _numbers(labels: Sequence[str]) -> list[tuple[int, ...]] | None:
    """The numbers in names that differ only in numbers; None where the names differ otherwise."""
    if len({re.sub(r"\d+", "0", label) for label in labels}) > 1:
        return None
    numbers = [tuple(int(number) for number in re.findall(r"\d{1,15}", label)) for label in labels]
    return numbers if numbers[0] and len(set(numbers)) == len(numbers) else None


def _unused(name: str, taken: set[str]) -> str:
    """The name, with a number appended where a column has this name already."""
    number, free = 2, name
    while free in taken:
        free, number = f"{name} {number}", number + 1
    return free
