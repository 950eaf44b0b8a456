"""The system level: Eq. 11 of Scherg et al. 2019."""

from collections.abc import Sequence

from autotune.units import Seconds


def system_seconds(nodes: Sequence[Seconds], communication: Seconds) -> Seconds:
    """psi = max(theta) + t_com: the slowest node's time step, plus communication between nodes.

    >>> system_seconds([Seconds(0.2), Seconds(0.3)], Seconds(0.1))
    0.4
    """
    return Seconds(max(nodes) + communication)
