"""A study as text for the terminal, as a value: predicted, measured, deviation, status, summary."""

from autotune.evaluate import ProblemResult, Row, StudyResult
from autotune.report import wording
from autotune.report.text import columns

_HEAD = (
    "", "candidate", "predicted", "measured", "90 % interval", "deviation", "status", "chosen as",
)  # fmt: skip
_RIGHT = (0, 2, 3, 4, 5)
_DETAIL = 160


def study(result: StudyResult, *, store: str = "") -> str:
    """What a study says: a table and the summary of each problem, and where the samples are."""
    if not result.problems:
        return f"study {result.study.name} has no candidates yet"
    blocks = [problem(found) for found in result.problems]
    where = f" in {store}" if store else ""
    blocks.append(f"study {result.study.name}{where}, {_taken(result)}")
    return "\n\n".join(blocks)


def problem(found: ProblemResult) -> str:
    """The candidates that were tried, fastest first, failures last; then what follows from them."""
    if not found.evaluated:
        return "\n".join(wording.sentences_of(found))
    rows = [_HEAD, *(_cells(row, found) for row in found.evaluated)]
    head = f"{found.label}: time per step of {len(found.evaluated)} of {len(found.rows)} candidates"
    lines = [head, columns(rows, right=_RIGHT)]
    lines += [f"  {row.candidate.id}: {_last_words(row)}" for row in found.failures]
    return "\n".join([*lines, *wording.sentences_of(found)])


def _cells(row: Row, found: ProblemResult) -> tuple[str, ...]:
    winner = found.best is not None and row is found.best
    return (
        "*" if winner else "",
        row.candidate.id,
        wording.seconds(row.predicted),
        wording.seconds(row.measured),
        wording.span(row.interval),
        wording.signed(row.deviation),
        wording.status(row) + (f" ({row.note})" if row.note else ""),
        row.chosen,
    )


def _last_words(row: Row) -> str:
    """The first line of what is known of a failure that says something."""
    text = row.measurement.detail if row.measurement else ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = next((line for line in lines if "error" in line.lower()), None)
    words = telling or (lines[0] if lines else "no details")
    return f"{wording.status(row)}: {words[:_DETAIL]}"


def _taken(result: StudyResult) -> str:
    runs = result.study.runs
    count = sum(len(m.samples) for run in runs for m in run.measurements)
    text = f"{len(runs)} run{'' if len(runs) == 1 else 's'}, {count} samples"
    if runs and "warning" in runs[-1].conditions:
        text += f"\nwarning: {runs[-1].conditions['warning']}"
    if runs and "wall" in runs[-1].timings:
        spent = dict(runs[-1].timings)
        wall = spent.pop("wall")
        spent["own overhead"] = wall - sum(spent.values())
        parts = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in spent.items())
        text += f"\nwall time {wall:.1f} s: {parts}"
    return text
