"""The pictures of the page on the ECM model, from our own predictions of a five-point sweep.

autotune predict docs/generate/ecm.yaml --json > predictions.json
python docs/generate/ecm_pictures.py predictions.json docs/pictures
"""

import json
import sys
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

INK, SOFT = "#222", "#777"
COLOURS = {
    "T_OL": "#e69f00",
    "T_nOL": "#0072b2",
    "L2": "#56b4e9",
    "L3": "#009e73",
    "MEM": "#cc79a7",
}
"""Okabe and Ito's colours, which the colour-blind tell apart."""
NAMES = {
    "T_OL": "arithmetic",
    "T_nOL": "loads and stores",
    "L2": "from L2",
    "L3": "from L3",
    "MEM": "from memory",
}
VARIANT = "u1-pad1"
"""The sweep as written: not blocked, not unrolled."""
WHERE = {
    "star2d-5pt-N100": "100 x 100 points: in L2",
    "star2d-5pt-N800": "800 x 800 points: in L3",
    "star2d-5pt-N4000": "4000 x 4000 points: in memory",
}
LEFT, SCALE = 210, 175
"""Pixels before the axis, and per nanosecond."""


def rows(document: Mapping[str, Any]) -> dict[tuple[str, int], dict[str, float]]:
    """Nanoseconds per point of every part, by problem and threads; ``sweep`` is their sum."""
    return {
        (p["problem"], p["layout"]["threads"]): {
            part["kind"]: part["seconds"] / (p["features"]["I"] * p["features"]["J"]) * 1e9
            for part in p["parts"]
        }
        | {"all": p["predicted_s"] / (p["features"]["I"] * p["features"]["J"]) * 1e9}
        for p in document["predictions"]
        if p["variant"] == VARIANT
    }


def timelines(parts: Mapping[tuple[str, int], Mapping[str, float]]) -> str:
    """What one core does for one point: two bars per size, the longer one is the time."""
    body = [*_legend(14)]
    for place, (problem, title) in enumerate(WHERE.items()):
        top = 50 + 84 * place
        of = parts[problem, 1]
        body += [_text(12, top + 24, title, INK), _text(12, top + 42, f"{of['all']:.2f} ns", SOFT)]
        body += _bar(top, [("T_OL", of["T_OL"])])
        chain = [(k, of[k]) for k in ("T_nOL", "L2", "L3", "MEM") if of.get(k)]
        body += _bar(top + 28, chain)
    return _svg(740, 300, "Time of one point on one core, part by part", body)


def scaling(parts: Mapping[tuple[str, int], Mapping[str, float]]) -> str:
    """Speed-up over the number of cores, for each size."""
    left, bottom, step, unit = 60, 270, 60, 28
    body = [_text(14, 24, "times as fast as one core", INK)]
    body += [_line(left, bottom, left + 8 * step, bottom, SOFT)]
    body += [_text(left + n * step - 4, bottom + 18, str(n), SOFT) for n in range(1, 9)]
    body += [_text(left - 24, bottom - n * unit + 4, str(n), SOFT) for n in range(1, 9)]
    body += [_text(left + 8 * step - 34, bottom + 36, "cores", SOFT)]
    for colour, (problem, title) in zip(
        ("#56b4e9", "#009e73", "#cc79a7"), WHERE.items(), strict=True
    ):
        ratio = [parts[problem, 1]["all"] / parts[problem, n]["all"] for n in range(1, 9)]
        points = " ".join(
            f"{left + n * step},{bottom - r * unit:.1f}" for n, r in enumerate(ratio, start=1)
        )
        body.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>'
        )
        body.append(_text(left + 8 * step + 8, bottom - ratio[-1] * unit + 4, title, INK))
    return _svg(780, 320, "Speed-up over cores", body)


def _legend(y: int) -> Iterator[str]:
    x = LEFT
    for kind, name in NAMES.items():
        yield f'<rect x="{x}" y="{y}" width="12" height="12" fill="{COLOURS[kind]}"/>'
        yield _text(x + 17, y + 11, name, INK)
        x += 34 + 6 * len(name)


def _bar(y: float, parts: list[tuple[str, float]]) -> Iterator[str]:
    x = float(LEFT)
    for kind, time in parts:
        width = time * SCALE
        yield (
            f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="24" fill="{COLOURS[kind]}">'
            f"<title>{NAMES[kind]}: {time:.2f} ns</title></rect>"
        )
        if width > 34:
            yield _text(x + 4, y + 16, f"{time:.2f}", "#000")
        x += width


def _line(x: float, y: float, to_x: float, to_y: float, colour: str) -> str:
    return f'<path d="M{x} {y}L{to_x} {to_y}" stroke="{colour}"/>'


def _text(x: float, y: float, words: str, colour: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}">{escape(words)}</text>'


def _svg(width: int, height: int, title: str, body: list[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
        f' font-family="sans-serif" font-size="12"><title>{escape(title)}</title>'
        f'<rect width="{width}" height="{height}" fill="#fff"/>'
    )
    return "\n".join([head, *body, "</svg>", ""])


if __name__ == "__main__":
    parts = rows(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    folder = Path(sys.argv[2])
    (folder / "ecm-parts.svg").write_text(timelines(parts), encoding="utf-8")
    (folder / "ecm-cores.svg").write_text(scaling(parts), encoding="utf-8")
