"""Families of problems: what is true of all IVPs, of all stencils, of all programs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

ENGINES = ("reuse", "kerncraft", "planes", "program")
"""The engines of all families."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A family of problems that a config can state."""

    name: str
    """``ivp``, ``stencil`` or ``program``."""
    words: str
    """A problem of the family in words: ``an IVP``."""
    engines: tuple[str, ...]
    """The engines that predict its problems, the usual one first."""
    problem_key: str
    """The key by which a problem in a config shows its family."""
    needs: str
    """What a config of such problems must name."""


IVP = Family(
    name="ivp",
    words="an IVP",
    engines=("reuse", "kerncraft"),
    problem_key="ivp",
    needs="a space for ivps",
)
STENCIL = Family(
    name="stencil",
    words="a stencil",
    engines=("reuse", "planes", "kerncraft"),
    problem_key="stencil",
    needs="a space for stencils",
)
PROGRAM = Family(
    name="program",
    words="a program",
    engines=("program", "kerncraft"),
    problem_key="arguments",
    needs="the key program",
)
_BY_NAME: Mapping[str, Family] = {family.name: family for family in (IVP, STENCIL, PROGRAM)}


class OfFamily(Protocol):
    """A problem, a skeleton or the subject of a study: each belongs to a family."""

    @property
    def family(self) -> str:
        """The name of the family."""


def family_of(member: OfFamily) -> Family:
    """The family of a problem, a skeleton or a subject; KeyError for a kind that no file states."""
    return _BY_NAME[member.family]


def go_together(first: OfFamily, second: OfFamily) -> bool:
    """Whether a subject or skeleton and a problem are of one family."""
    return first.family == second.family
