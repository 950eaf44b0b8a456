"""How unsure a prediction of the ECM model is, by the figures and regimes of engine ``reuse``.

Both engines price the same terms with the same machine file, so both doubt them alike:
``reuse.uncertainty`` states how unsure every figure is, and where models are known to err. A figure
moves the time of a step by the share that its term takes of it. The overlap of transfers, which a
machine file only guesses, spans from none to all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autotune.domain.calibration import Z80
from autotune.domain.results import Uncertainty
from autotune.domain.variant import Candidate
from autotune.models.engines.kerncraft.node_stretches import StretchTiming
from autotune.models.engines.reuse import uncertainty
from autotune.models.engines.reuse.case_evaluation import Evaluator
from autotune.models.engines.reuse.evaluation_pieces import ThreadPlacement
from autotune.models.traffic import Floats
from autotune.units import Seconds

_ALL = 1 - 1e-9
"""A term above this share of the whole counts as the whole: the rest is rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedStep:
    """The time of a step, and what it is made of."""

    timing: StretchTiming
    rough: Sequence[bool]
    """Of each stretch, whether its in-core time is that of a port table or another architecture."""
    barriers: float
    """Seconds."""
    seconds: float
    """Of the step, with its barriers."""
    on_grid: bool = False
    """Whether its stretches sweep over grids."""


def interval(seconds: float, unsure: Uncertainty) -> tuple[Seconds, Seconds]:
    """The 80 % interval of a time."""
    reach = float(np.exp(Z80 * unsure.sigma))
    return Seconds(seconds / reach), Seconds(seconds * reach)


def step_uncertainty(evaluator: Evaluator, candidate: Candidate, step: TimedStep) -> Uncertainty:
    """The uncertainty of the time of a step on the evaluator's machine."""
    spread = ThreadPlacement(candidate.threads_per_node, candidate.placement)
    doubt = evaluator.bare(spread).doubts
    seconds, waiting = step.seconds, step.barriers / step.seconds
    terms = _shares(step.timing) * (step.timing.seconds / seconds)
    core, levels = float(terms[0].sum()), terms[1:].sum(axis=1)
    widths = [uncertainty.width(rough, None) for rough in step.rough]
    less = (float(step.timing.full.sum()) + step.barriers) / seconds - 1
    more = (float(step.timing.serial.sum()) + step.barriers) / seconds - 1
    less, more = min(less, 0.0), max(more, 0.0)
    reach = uncertainty.reaching(np.array(less), np.array(more))
    shared = dict(zip(doubt.names, (levels * doubt.levels).tolist(), strict=True))
    shared |= {
        "core": float(terms[0] @ np.array(widths)),
        "overlap": float(reach) if doubt.spans else (more - less) / 2,
        "barrier": waiting * doubt.barrier,
        "clock": (core + float(levels[:-1].sum())) * doubt.clock,
    }
    rough = float((step.timing.seconds / seconds) @ np.array(step.rough, dtype=float))
    shares: dict[str, Floats | float] = {
        "model": 1 - waiting,
        "memory": float(levels[-1]),
        "grids": (1 - waiting) * step.on_grid,
        "approximate": rough,
        "unmeasured": 0.0 if doubt.measured else float(levels.sum()),
        "contradiction": float(doubt.contradicted @ levels),
    }
    if candidate.threads_per_node > 1:
        stated = evaluator.barrier(candidate.threads) is not None
        shares |= uncertainty.parallel_shares(seconds, candidate.threads > 1, barrier_stated=stated)
    shifts, variance = uncertainty.regime_shifts(shares)
    return Uncertainty(
        shared={name: float(value) for name, value in (shared | shifts).items() if value},
        independent=float(np.sqrt(variance)),
    )


def _shares(timing: StretchTiming) -> Floats:
    """(1 + levels, stretches): the share that the core and each level have of the time.

    All of it for the term that bounds a stretch alone, as T_OL or a saturated memory does; else in
    proportion to T_nOL and the transfers, which follow one another.
    """
    terms = np.stack([timing.T_nOL, *timing.transfers.T])
    alone = terms.max(axis=0) >= timing.seconds * _ALL
    largest = np.arange(len(terms))[:, None] == terms.argmax(axis=0)
    total = np.maximum(terms.sum(axis=0), np.finfo(float).tiny)
    shares = np.where(alone, largest, terms / total)
    only_core = (np.arange(len(terms)) == 0)[:, None]
    result: Floats = np.where(timing.seconds * _ALL <= timing.T_OL, only_core, shares)
    return result
