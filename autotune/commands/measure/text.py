"""What ``autotune measure`` prints."""

from autotune.domain.ranking import Ranked
from autotune.domain.results import Measurement
from autotune.measuring.candidates.host_measurer import KernelSeconds
from autotune.results.report.number_words import interval, seconds
from autotune.results.report.text_table import columns


def measured(
    ranked: Ranked,
    measurement: Measurement,
    location: tuple[float, tuple[float, float] | None] | None,
    phases: KernelSeconds | None,
) -> str:
    """One candidate, predicted and measured, and its phases."""
    facts, predicted = ranked.candidate.problem.facts(), ranked.prediction.seconds
    per, goal = facts.per, facts.goal
    lines = [
        ranked.candidate.label,
        f"status     {measurement.status}",
        "predicted  -" if predicted is None else f"predicted  {seconds(predicted)} per {per}",
    ]
    if location:
        measured_value = seconds(location[0], goal) + (f" per {per}" if goal.timed else "")
        lines.append(f"measured   {measured_value} {interval(location[1], goal)}".rstrip())
        if not goal.timed:
            lines[-1] += f", {goal.name}: the {goal.better} the better"
        taken = len(measurement.timed)
        lines.append(f"samples    {taken}, of which {measurement.disturbed} were disturbed")
    if measurement.error is not None:
        lines.append(f"verified   deviation {measurement.error:.1e} from the reference")
    if measurement.detail:
        lines.append(measurement.detail)
    if phases and phases.seconds:
        total = sum(phases.seconds.values())
        rows = [
            (name, seconds(value), f"{100 * value / total:.0f} %" if total else "-")
            for name, value in phases.seconds.items()
        ]
        lines += [
            f"phases, per {per}, in an instrumented run of its own, whose timers make it longer:"
            f" {seconds(total)} in all"
        ]
        lines.append(columns(rows, right=(1, 2), headed=False))
    elif phases:
        lines.append(f"phases: {phases.status}: {phases.detail}")
    return "\n".join(lines)
