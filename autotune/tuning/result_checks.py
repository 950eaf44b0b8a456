"""Whether candidates computed the same result at the timed size."""

from collections.abc import Mapping

from autotune.measuring.candidates.base import CHECKSUM_TOLERANCE

Checksum = tuple[float, float]
"""As of a launch: weighted sum of a state, and sum of magnitudes."""


def agree(first: Checksum, second: Checksum) -> bool:
    """Whether two checksums belong to the same result."""
    return abs(first[0] - second[0]) <= CHECKSUM_TOLERANCE * max(first[1], second[1])


def odd_ones_out(checksums: Mapping[str, Checksum]) -> set[str]:
    """The candidates outside the largest group with one checksum; all, if groups tie."""
    groups: list[list[str]] = []
    for name in sorted(checksums):
        home = next((g for g in groups if agree(checksums[g[0]], checksums[name])), None)
        if home is None:
            groups.append([name])
        else:
            home.append(name)
    groups.sort(key=len, reverse=True)
    tied = len(groups) > 1 and len(groups[0]) == len(groups[1])
    return {name for group in (groups if tied else groups[1:]) for name in group}
