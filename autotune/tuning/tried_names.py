"""The names of tried candidates while ever more are tried: they tell them apart."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from autotune.domain.candidate_names import short_names
from autotune.domain.variant import Build, Candidate, ExecutionLayout

_CUT = re.compile(r"-and-\d+-more$")
"""The end of a label that lacks values."""


@dataclass(frozen=True, slots=True)
class _Labelled:
    """A candidate with a label that others may have too."""

    identity: str
    label: str


@dataclass(slots=True)
class TriedNames:
    """The names of candidates of one problem, in the form of tables and pages.

    That is the label of the variant, with threads and build where they are not the same for all:
    ``jli, 2 threads [gcc -O3]``. Candidates for which all that is the same, and those whose label
    lacks values, also get the first digits of their identities: ``jli:3f0a, 2 threads``.
    """

    layouts: bool
    """Whether candidates of the problem differ in their layouts."""
    builds: bool
    """Whether they differ in their builds."""
    _alike: dict[tuple[str, str], dict[str, _Labelled]] = field(default_factory=dict)
    """The candidates named so far, by their label and what follows it."""

    @classmethod
    def among(cls, candidates: Iterable[Candidate]) -> "TriedNames":
        """Names for some of these candidates."""
        layouts: dict[int, ExecutionLayout] = {}
        builds: dict[int, Build] = {}
        for candidate in candidates:  # many share the same few objects
            layouts[id(candidate.layout)] = candidate.layout
            builds[id(candidate.build)] = candidate.build
        return cls(_several(layouts), _several(builds))

    def name(self, candidate: Candidate) -> str:
        """The name of a candidate, which no other one has that was named before."""
        label = candidate.variant.label
        ending = f", {candidate.layout.words}" if self.layouts else ""
        ending += f" [{candidate.build.words}]" if self.builds else ""
        alike = self._alike.setdefault((label, ending), {})
        alike[candidate.identity] = _Labelled(candidate.identity, label)
        names = short_names(alike.values(), several=_CUT.search(label) is not None)
        return names[candidate.identity] + ending


def _several(values: Mapping[int, ExecutionLayout] | Mapping[int, Build]) -> bool:
    return len(set(values.values())) > 1
