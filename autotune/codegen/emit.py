"""Printers: the loop tree as C."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepCode:
    """A sweep as C: one function in a translation unit of its own."""

    name: str
    function: str
    text: str
