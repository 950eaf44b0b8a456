"""What ``autotune measure`` prints."""

from autotune.domain.ranking import Ranked
from autotune.domain.results import Measurement
from autotune.measuring.candidates.host_measurer import KernelSeconds
from autotune.results.report.text_table import columns
from autotune.results.report.words import interval, seconds


def measured(
    ranked: Ranked,
    measurement: Measurement,
    location: tuple[float, tuple[float, float] | None] | None,
    phases: KernelSeconds | None,
) -> str:
    """One candidate, predicted and measured, and its phases."""
    lines = [
        ranked.candidate.id,
        f"status     {measurement.status}",
        f"predicted  {seconds(ranked.prediction.seconds)} per step",
    ]
    if location:
        lines.append(f"measured   {seconds(location[0])} per step {interval(location[1])}")
        taken = len(measurement.accepted)
        rejected = sum(not s.accepted and not s.warm_up for s in measurement.samples)
        lines.append(f"samples    {taken} accepted, {rejected} rejected as contended")
    if measurement.error is not None:
        lines.append(f"verified   deviation {measurement.error:.1e} of the reference")
    if measurement.detail:
        lines.append(measurement.detail)
    if phases and phases.seconds:
        total = sum(phases.seconds.values())
        rows = [
            (name, seconds(value), f"{100 * value / total:.0f} %")
            for name, value in phases.seconds.items()
        ]
        lines += ["phases, per step, in an instrumented run of its own:"]
        lines.append(columns(rows, right=(1, 2)))
    elif phases:
        lines.append(f"phases: {phases.status}: {phases.detail}")
    return "\n".join(lines)
