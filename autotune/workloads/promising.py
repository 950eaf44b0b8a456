"""Candidates near those predicted best, of problems that have more than can be listed."""

import random
from collections.abc import Callable, Sequence

from autotune.domain.results import Prediction
from autotune.domain.variant import Candidate
from autotune.workloads.base import EnumeratedSpace

_ROUNDS = 4
_CENTRES = 20
"""So many of the predicted best have their neighbours predicted in a round."""
_NEAR = 50
"""Neighbours of each at most."""


def promising(
    enumerated: EnumeratedSpace,
    predict: Callable[[Sequence[Candidate]], Sequence[Prediction]],
    seed: int | None,
) -> tuple[list[Candidate], list[Prediction]]:
    """The legal candidates with their predictions; of a problem with a source also neighbours of
    the predicted best, round by round.

    ``seed``: of what is drawn; None where nothing predicts a time, so that no candidate is better.
    """
    legal = list(enumerated.legal)
    predictions = list(predict(legal))
    if seed is None or not enumerated.sources:
        return legal, predictions
    chance = random.Random(seed)
    met = {candidate.identity for candidate in legal}
    for _ in range(_ROUNDS):
        entering: dict[str, Candidate] = {}
        for key, source in enumerated.sources.items():
            timed = [
                (prediction.seconds, place)
                for place, prediction in enumerate(predictions)
                if prediction.seconds is not None and legal[place].problem.key == key
            ]
            for _, place in sorted(timed)[:_CENTRES]:
                for near in source.neighbours(legal[place], _NEAR, chance):
                    entering.setdefault(near.identity, near)
        new = [candidate for identity, candidate in entering.items() if identity not in met]
        met |= entering.keys()
        legal += new
        predictions += predict(new)
    return legal, predictions
