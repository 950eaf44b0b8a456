"""An explanation as text: sentences, the parts side by side, the compiled loops."""

import textwrap

from autotune.domain.candidate_names import short_names
from autotune.domain.ranking import differences
from autotune.domain.results import Prediction
from autotune.models.engines.base import CompiledSweep
from autotune.results.explanation.explained import ExplainedCandidate, RankingExplanation
from autotune.results.explanation.loop_words import LINE, unusual
from autotune.results.explanation.reasons import time
from autotune.results.report.text_table import columns

_WIDTH = 100
_LITTLE = 5e-3
"""Parts below this share of the step are left out."""
_SMALL = 1e-3
"""Parts that differ by less than this share of the step are left out."""


def explained(explanation: RankingExplanation, *, assembly: bool = False) -> str:
    """An explanation as text: reasons, then numbers; with ``assembly`` the annotated loops."""
    chosen, other = explanation.chosen, explanation.other
    candidates = [ranked.candidate for ranked in (chosen, other) if ranked]
    head = " against ".join(short_names(candidates)[c.identity] for c in candidates)
    lines = [f"{head}, engine {chosen.prediction.engine}"]
    lines += [line for text in explanation.words for line in textwrap.wrap(text, _WIDTH)]
    table = _differences(chosen.prediction, other.prediction) if other else _parts(explanation)
    if len(table) > 1:
        lines += ["", columns(table, right=range(2, len(table[0])))]
    for explained_candidate in (explanation.explained, explanation.explained_other):
        if explained_candidate and explained_candidate.loops:
            lines += ["", *_loops(explained_candidate)]
    told_notes = dict.fromkeys(
        note for ranked in (chosen, other) if ranked for note in ranked.prediction.notes
    )
    notes = [textwrap.wrap(f"note: {note}", _WIDTH, subsequent_indent="  ") for note in told_notes]
    if notes:
        lines += ["", *(line for note in notes for line in note)]
    if assembly:
        for explained_candidate in (explanation.explained, explanation.explained_other):
            lines += _assembly(explained_candidate) if explained_candidate else []
    return "\n".join(lines)


def _parts(explanation: RankingExplanation) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("sweep", "part", "time", "rows")]
    least = _LITTLE * (explanation.chosen.prediction.seconds or 0.0)
    for part in sorted(explanation.chosen.prediction.parts, key=lambda p: (p.sweep, -p.seconds)):
        if part.seconds < least:
            continue
        count = f"{part.count:.0f}" if part.count else ""
        rows.append((part.sweep, part.kind, time(part.seconds), count))
    return rows


def _differences(first: Prediction, second: Prediction) -> list[tuple[str, ...]]:
    total = max(first.seconds or 0.0, second.seconds or 0.0)
    rows: list[tuple[str, ...]] = [("sweeps", "part", "this", "other", "this - other", "rows")]
    for d in differences(first, second):
        if abs(d.first - d.second) > _SMALL * total:
            gap = ("+" if d.first > d.second else "-") + time(abs(d.first - d.second))
            counted = d.first_count or d.second_count
            counts = f"{d.first_count:.0f} against {d.second_count:.0f}" if counted else ""
            rows.append((d.sweep, d.kind, time(d.first), time(d.second), gap, counts))
    return rows


def _loops(candidate: ExplainedCandidate) -> list[str]:
    rows: list[tuple[str, ...]] = [
        ("sweep", "T_OL", "T_nOL", "chain", "SIMD", "in-core by", "bound by")
    ]
    alike: dict[tuple[str, ...], list[str]] = {}
    for loop in candidate.loops:
        alike.setdefault(_loop(loop), []).append(loop.sweep)
    for row, (first, *others) in alike.items():
        rows.append((f"{first} and {len(others)} alike" if others else first, *row))
    return [
        f"loops of {candidate.name} as compiled, cycles per line of {LINE} components",
        columns(rows, right=(1, 2, 3, 4)),
    ]


def _loop(loop: CompiledSweep) -> tuple[str, ...]:
    result = loop.result
    return (
        *(f"{LINE * cycles:.1f}" for cycles in (result.T_OL, result.T_nOL, result.chain)),
        f"{result.vector} B",
        result.route,
        ", ".join([result.bottleneck, *unusual(loop)]),
    )


def _assembly(candidate: ExplainedCandidate) -> list[str]:
    lines = []
    for loop in candidate.loops:
        text = loop.result.annotated or loop.result.assembly
        lines += ["", f"{candidate.name}, sweep {loop.sweep} ({loop.result.route}):"]
        lines.append(text.rstrip() or "no assembly is known: counted from the source")
    return lines
