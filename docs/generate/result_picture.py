"""The picture of a study: what was predicted and measured of every candidate of one problem.

autotune tune configs/quickstart.yaml
autotune compare quickstart --json > study.json
python docs/generate/result_picture.py study.json heat2d-N1024 docs/pictures/quickstart.svg
"""

import json
import math
import sys
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

WIDTH, ROW, LEFT, RIGHT, TOP = 760, 21, 330, 80, 58
INK, SOFT, WINNER, BASELINE, PREDICTED = "#222", "#888", "#0072b2", "#d55e00", "#777"
"""Okabe and Ito's colours, which the colour-blind tell apart."""


def picture(problem: Mapping[str, Any]) -> str:
    """The SVG text of one problem of the document of `autotune compare`, on a logarithmic axis."""
    rows = sorted(
        (row for row in problem["evaluated"] if row["measured_s"]), key=lambda r: r["measured_s"]
    )
    times = [t for r in rows for t in (*r["measured_interval_s"], r["predicted_s"])]
    low, high = math.log(min(times)), math.log(max(times))

    def x(seconds: float) -> float:
        return LEFT + (math.log(seconds) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    height = TOP + ROW * len(rows) + 16
    body = [line for n, row in enumerate(rows) for line in _row(row, problem, n, x)]
    return "\n".join([*_head(problem, height), *body, "</svg>", ""])


def _head(problem: Mapping[str, Any], height: int) -> Iterator[str]:
    low, high = problem["speedup_interval"]
    title = (
        f"{problem['problem']}: {problem['speedup']:.2f} times as fast as the baseline"
        f" ({low:.2f} to {high:.2f})"
    )
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
        f' font-family="sans-serif" font-size="12"><title>{escape(title)}</title>'
    )
    yield f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>'
    yield _text(12, 22, title, INK, 'font-size="15" font-weight="bold"')
    yield (
        f'<circle cx="{LEFT}" cy="38" r="4" fill="{INK}"/>'
        f'<path d="M{LEFT + 186} 32v12" stroke="{PREDICTED}" stroke-width="2"/>'
    )
    yield _text(LEFT + 10, 42, "measured, 90 % interval", INK)
    yield _text(LEFT + 194, 42, "predicted", INK)
    yield _text(12, 42, f"{problem['measured']} candidates; time per step, logarithmic", SOFT)


def _row(row: Mapping[str, Any], problem: Mapping[str, Any], place: int, x: Any) -> Iterator[str]:
    y = TOP + ROW * place + 10
    first, last = (x(t) for t in row["measured_interval_s"])
    colour = {problem["best"]: WINNER, problem["baseline"]: BASELINE}.get(row["candidate"], INK)
    mark = {WINNER: " (winner)", BASELINE: " (baseline)"}.get(colour, "")
    yield _text(LEFT - 14, y + 4, row["variant"] + mark, colour, 'text-anchor="end"')
    said = f"{x(row['predicted_s']):.1f}"
    yield f'<path d="M{said} {y - 7}v14" stroke="{PREDICTED}" stroke-width="2"/>'
    yield f'<path d="M{first:.1f} {y}H{last:.1f}" stroke="{colour}" stroke-width="2"/>'
    yield f'<circle cx="{x(row["measured_s"]):.1f}" cy="{y}" r="4" fill="{colour}"/>'
    time = f"{row['measured_s'] * 1e3:.4g} ms"
    yield _text(WIDTH - RIGHT + 14, y + 4, time, colour)


def _text(x: float, y: float, words: str, colour: str, more: str = "") -> str:
    return f'<text x="{x}" y="{y}" fill="{colour}" {more}>{escape(words)}</text>'


if __name__ == "__main__":
    document = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    chosen = next(p for p in document["problems"] if p["problem"] == sys.argv[2])
    Path(sys.argv[3]).write_text(picture(chosen), encoding="utf-8")
