"""Predictions of whole batches of candidates, kept on disk under the hash of all they depend on."""

import functools
import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autotune.domain.results import Prediction
from autotune.domain.variant import Candidate
from autotune.files import codec
from autotune.models import answer_cache
from autotune.models.engines.base import CandidatePredictor

_KIND = "predictions"
_MOST = 64_000_000
"""Bytes of all that is kept: about 80 batches of 224 candidates."""
_PACKAGE = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPredictions:
    """The predictions of a batch, equal ones once: most padded candidates share theirs."""

    predictions: tuple[Prediction, ...]
    rows: tuple[int, ...]
    """Position among the predictions, candidate by candidate."""


class KeepingEngine:
    """An engine whose predictions are read from disk where a batch was predicted before.

    ``engine``: makes the engine, for the first batch that was not predicted before.
    ``basis``: everything that predictions depend on besides the candidates and this package.
    ``lasting``: whether the predictions made so far would come out the same next time; others are
    not kept, and neither is a batch in which a candidate has no time.
    """

    def __init__(
        self,
        name: str,
        engine: Callable[[], CandidatePredictor],
        basis: Callable[[Sequence[Candidate]], Sequence[str]],
        lasting: Callable[[], bool],
    ) -> None:
        self.name = name
        self._engine = functools.cache(engine)
        self._basis = basis
        self._lasting = lasting

    def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
        """One prediction per candidate, in order."""
        parts = _package(), self.name, self._basis(candidates), [c.identity for c in candidates]
        key = hashlib.sha256(codec.dump(parts).encode()).hexdigest()
        kept = _kept(key)
        if kept is not None and len(kept.rows) == len(candidates):
            return [kept.predictions[row] for row in kept.rows]
        made = self._engine().predict(candidates)
        if self._lasting() and all(prediction.seconds is not None for prediction in made):
            first = {id(prediction): prediction for prediction in made}
            row = {number: place for place, number in enumerate(first)}
            batch = KeptPredictions(
                predictions=tuple(first.values()), rows=tuple(row[id(p)] for p in made)
            )
            answer_cache.keep_text(_KIND, key, codec.dump(batch, ordered=False), _MOST)
        return made


def _kept(key: str) -> KeptPredictions | None:
    """The kept predictions of a key; None where they are missing or unreadable."""
    text = answer_cache.stored_text(_KIND, key)
    try:
        return None if text is None else codec.load(KeptPredictions, text)
    except ValueError:
        return None


@functools.cache
def _package() -> str:
    """A hash of the sizes and times of the files of this package, whose code makes predictions."""
    digest = hashlib.sha256()
    folders = os.walk(_PACKAGE)  # rglob takes three times as long
    files = [f"{folder}/{name}" for folder, _, names in folders for name in names]
    for path in sorted(file for file in files if file.endswith(".py")):
        state = Path(path).stat()
        digest.update(f"{path} {state.st_size} {state.st_mtime_ns}\n".encode())
    return digest.hexdigest()
