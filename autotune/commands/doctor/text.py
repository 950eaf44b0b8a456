"""What ``autotune doctor`` prints."""

from collections.abc import Sequence

from autotune.measuring.host.doctor import Prerequisite
from autotune.results.report.text_style import Tone
from autotune.results.report.text_table import columns


def doctor(findings: Sequence[Prerequisite]) -> str:
    """What is installed, what is missing, and how to install it."""
    rows = [(f.state, f.name, f.found or "-", f.needed_for) for f in findings]
    tones: dict[int, Tone] = {n: "failure" for n, f in enumerate(findings) if f.state == "missing"}
    lines = [columns(rows, headed=False, tones=tones)]
    for finding in findings:
        if finding.state != "ok" and finding.install:
            lines.append(f"{finding.state}, {finding.name}: {finding.install}")
    if all(finding.state != "missing" for finding in findings):
        lines.append("everything that is needed is there")
    return "\n".join(lines)
