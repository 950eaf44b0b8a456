"""A study as text for the terminal, as a value: predicted, measured, deviation, status, summary."""

from autotune.results.evaluate.study_evaluation import (
    EvaluatedCandidate,
    ProblemEvaluation,
    StudyEvaluation,
)
from autotune.results.report import words
from autotune.results.report.influences import influences
from autotune.results.report.text_table import columns

_HEAD = (
    "", "candidate", "predicted", "measured", "90 % interval", "deviation", "status", "chosen as",
)  # fmt: skip
_RIGHT = (0, 2, 3, 4, 5)
_DROPPED = (
    "  - instead of an interval: launched too few times for one, as a rule because it was clearly"
    " slower"
)


def study(result: StudyEvaluation, *, store: str = "") -> str:
    """What a study says: a table and the summary of each problem, and where the samples are."""
    if not result.problems:
        return f"study {result.study.name} has no candidates yet"
    blocks = [problem(found) for found in result.problems]
    where = f" in {store}" if store else ""
    blocks.append(f"study {result.study.name}{where}, {_taken(result)}")
    return "\n\n".join(blocks)


def problem(found: ProblemEvaluation) -> str:
    """The candidates that were tried, fastest first, failures last; then what follows from them."""
    if not found.evaluated:
        return "\n".join(words.sentences_of(found))
    rows = [_HEAD, *(_cells(row, found) for row in found.evaluated)]
    what = "time per step" if found.problem.stepped else "time"
    head = f"{found.label}: {what} of {len(found.evaluated)} of {len(found.rows)} candidates"
    lines = [head, columns(rows, right=_RIGHT)]
    if any(row.measured is not None and row.interval is None for row in found.evaluated):
        lines.append(_DROPPED)
    lines += _failures(found)
    return "\n".join([*lines, *words.sentences_of(found), *_influences(found)])


def _cells(row: EvaluatedCandidate, found: ProblemEvaluation) -> tuple[str, ...]:
    winner = found.best is not None and row is found.best
    return (
        "*" if winner else "",
        words.built(row.candidate, found),
        words.seconds(row.predicted),
        words.seconds(row.measured),
        words.span(row.interval),
        words.signed(row.deviation),
        words.status(row) + (f" ({row.note})" if row.note else ""),
        row.chosen,
    )


def _influences(found: ProblemEvaluation) -> list[str]:
    """What makes candidates fast, where the model of it holds on those that it had not seen."""
    known = influences(found)
    if known is None:
        return []
    errors = f"{100 * known.error:.2g} % off on candidates it had not seen"
    same = f"{100 * known.same:.2g} % with the same time for all"
    return [
        f"  What makes candidates fast ({errors}, {same}):",
        *(f"    {text}" for text in known.words),
    ]


def _failures(found: ProblemEvaluation) -> list[str]:
    """One line for each way to fail: a candidate, how many more, the line that tells most."""
    alike: dict[str, list[str]] = {}
    for row in found.failures:
        reason = words.first_words(row.measurement.detail if row.measurement else "")
        said = f"{words.status(row)}: {reason or 'no details'}"
        alike.setdefault(said, []).append(words.built(row.candidate, found))
    return [
        f"  {first}{f' and {len(more)} more' if more else ''}: {said}"
        for said, (first, *more) in alike.items()
    ]


def _taken(result: StudyEvaluation) -> str:
    runs = result.study.runs
    count = sum(len(m.samples) for run in runs for m in run.measurements)
    text = f"{len(runs)} run{'' if len(runs) == 1 else 's'}, {count} samples"
    if runs and "warning" in runs[-1].conditions:
        text += f"\nwarning: {runs[-1].conditions['warning']}"
    for name in ("warm_start", "prior"):
        if runs and name in runs[-1].conditions:
            text += f"\n{runs[-1].conditions[name]}"
    if runs and "wall" in runs[-1].timings:
        spent = dict(runs[-1].timings)
        wall = spent.pop("wall")
        spent["own overhead"] = wall - sum(spent.values())
        parts = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in spent.items())
        text += f"\nwall time {wall:.1f} s: {parts}"
    return text
