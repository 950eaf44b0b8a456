"""The constants of a host refined by a study, as text."""

from collections.abc import Sequence

from autotune.models.refinement import ConstantChange, CrossValidation, PredictionScore, Refinement
from autotune.results.report.text_table import columns
from autotune.units import show

_VERDICTS = {
    "better": "BETTER outside the study",
    "same": "NO DIFFERENCE outside the study",
    "worse": "WORSE outside the study",
    "unscored": "NOT SCORED outside the study",
}


def refinement(refinement: Refinement, rows: int, notes: Sequence[str]) -> str:
    """Each constant before and after, the errors of the predictions, and the proposed changes."""
    informed = [change for change in refinement.changes if change.informed]
    silent = [change.figure.name for change in refinement.changes if not change.informed]
    lines = [
        f"{refinement.study}: {rows} measured candidates against their predictions; the model"
        f" misses {100 * refinement.error:.1f} % beyond the noise of the samples"
    ]
    if informed:
        head = (
            "constant",
            "before",
            "80 % interval",
            "after",
            "80 % interval",
            "variance",
            "effect",
        )
        table = [head, *(_row(change) for change in informed)]
        lines += ["", columns(table, right=(1, 3, 5))]
        lines.append("variance: of what is known after, over before; effect: of the change alone")
    if silent:
        lines += ["", *_wrapped("the study says nothing of: ", silent)]
    lines += ["", f"scored on {refinement.basis}"]
    table = [("left out", "", "rows", "deviation", "tau-b", "pairs", "top-1 loss", "top-3 loss")]
    for score in [*refinement.outside, *([refinement.total] if refinement.total else [])]:
        table += _scores(score, score.name)
    table += _scores(refinement.inside, "the study itself")
    lines.append(columns(table, right=range(2, 8), matrix=True))
    lines.append(f"{_VERDICTS[refinement.verdict]}: {'; '.join(refinement.reasons)}")
    lines += _diagnosis(refinement)
    lines += [f"note: {note}" for note in notes]
    return "\n".join(lines)


def _row(change: ConstantChange) -> tuple[str, ...]:
    unit = change.figure.unit
    sign = f"{100 * change.effect:+z.1f} %"
    return (
        change.figure.name,
        figure(change.before[0], unit),
        _interval(change.before, unit),
        figure(change.after[0], unit),
        _interval(change.after, unit),
        f"{change.variance:.2f}",
        f"up to {sign} in {change.moved} predictions" if change.moved else "no prediction moves",
    )


def figure(value: float, unit: str) -> str:
    """A constant with its unit: ``31.2 B/cy``, ``0.42``, ``0.23 us``."""
    if unit == "s":
        return show(value, "time")
    return f"{value:.3g}" + ("" if unit == "1" else f" {unit}")


def _interval(values: tuple[float, float, float], unit: str) -> str:
    return f"{figure(values[1], '1' if unit != 's' else unit)} to {figure(values[2], unit)}"


def _scores(validation: CrossValidation, name: str) -> list[tuple[str, ...]]:
    return [_score(validation.before, name, "before"), _score(validation.after, "", "after")]


def _score(score: PredictionScore, name: str, when: str) -> tuple[str, ...]:
    def percent(value: float | None) -> str:
        return "-" if value is None else f"{100 * value:.1f} %"

    return (
        name,
        when,
        str(score.rows),
        percent(score.deviation),
        "-" if score.tau is None else f"{score.tau:.2f}",
        percent(score.pairs),
        percent(score.losses[1]),
        percent(score.losses[3]),
    )


def _diagnosis(refinement: Refinement) -> list[str]:
    lines = []
    core = refinement.core
    if core is not None:
        lines.append(
            f"in the core: what is left asks for all in-core times x {core.factor:.2f}"
            f" ({core.low:.2f} to {core.high:.2f}); told only, never applied"
        )
    if len(refinement.kernels) > 1:
        ratios = [f"{name} {ratio:.2f}" for name, ratio in refinement.kernels.items()]
        lines += _wrapped("measured over predicted after, by kernel (median): ", ratios)
    return lines


def _wrapped(head: str, words: Sequence[str], width: int = 100) -> list[str]:
    """A list of words after a heading, broken into lines of at most ``width`` characters."""
    lines, line = [], head
    for number, word in enumerate(words):
        text = word + (", " if number + 1 < len(words) else "")
        if len(line) + len(text.rstrip()) > width:
            lines.append(line.rstrip())
            line = "  "
        line += text
    return [*lines, line]
