"""Setups from what Python has in hand: files, keys and values, setups, workloads."""

from collections.abc import Mapping
from pathlib import Path

from autotune.commands.rank import ranked_space
from autotune.domain.setup import Setup
from autotune.files import config
from autotune.workloads.base import Workload
from autotune.workloads.shipped import workload_of

Described = Workload | Setup | str | Path | Mapping[str, object]
"""A workload, a setup, a config file or its name, or what a config would say."""


def load(source: str | Path | Mapping[str, object]) -> Setup:
    """The setup of a config file, or of the keys and values that one would hold.

    A dict may describe its program under ``program``, or be what a program file says; ``machine``
    is this host unless it says otherwise. ConfigError with all mistakes at once.

    >>> setup = load({
    ...     "program": {"title": "sleep", "sources": ["/bin/sleep"], "run": ["sleep", "{s}"],
    ...                 "parameters": {"s": [0.01, 0.02]}},
    ... })
    >>> setup.problems[0].label
    'study'
    """
    if isinstance(source, Mapping):
        return config.stated(source)
    return ranked_space.load(Path(source)).setup


def workload_in(described: Described) -> Workload:
    """The workload that something describes."""
    if isinstance(described, Mapping):
        return workload_of(config.stated(described))
    if isinstance(described, str | Path):
        return ranked_space.load(Path(described))
    return workload_of(described) if isinstance(described, Setup) else described
