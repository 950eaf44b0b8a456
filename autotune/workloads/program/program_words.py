"""Texts about programs that cannot be predicted."""

from collections.abc import Sequence

from autotune.domain.machine import Machine
from autotune.domain.program import Program
from autotune.domain.ranking import Ranking


def unranked(program: Program, rankings: Sequence[Ranking], machine: Machine) -> str:
    """The text for a program without a model: what tune does without it, and how to add one."""
    lines = [
        f"{ranking.problem.label}: {len(ranking.entries)} candidates on {machine.name},"
        " none of them predicted"
        for ranking in rankings
    ]
    lines.append(
        f"The program {program.name} has no model, so there is nothing to rank. tune needs none:"
        " it begins with the baseline and some candidates drawn at random, and learns from what it"
        " measures. variants lists all candidates."
    )
    lines.append(f"A key model in {program.source} (a formula is enough) makes them ranked.")
    return "\n".join(lines)
