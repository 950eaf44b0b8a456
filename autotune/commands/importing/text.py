"""What ``autotune import`` prints."""

from autotune.commands.importing.document import FastestImported, ImportDocument
from autotune.results.report import number_words
from autotune.units import counted


def text(study: ImportDocument) -> str:
    """The number of rows imported, the fastest candidate of each problem, and what was left out."""
    failed = f", {study.failed} of them failed" if study.failed else ""
    candidates = "is a candidate" if study.entered == 1 else "are candidates"
    lines = [f"{study.entered} of {counted(study.rows, 'row')} {candidates} of the config{failed}"]
    lines += [f"best of {best.problem}: {best.candidate}, {_value(best)}" for best in study.best]
    if study.strangers:
        count = study.rows - study.entered
        rows = "1 row is" if count == 1 else f"{count} rows are"
        first = ", ".join(f"{name}={value}" for name, value in study.strangers[0].items())
        lines.append(f"{rows} no legal candidate: {first}" + ("; ..." if count > 1 else ""))
    if study.ignored:
        lines.append(f"not of the config, so ignored: {', '.join(study.ignored)}")
    state = "was in the store already" if study.already else "entered"
    lines.append(f"study {study.study} {state}: hints for autotune tune of the same config")
    return "\n".join(lines)


def _value(best: FastestImported) -> str:
    if best.best_value is None:
        return number_words.seconds(best.seconds)
    return f"{best.goal.name} {number_words.metric(best.goal, best.best_value)}"
