"""The colours of the style: contrast with the page, and distance for every colour vision."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from autotune.results.page import frame

STYLE = (Path(frame.__file__).parent / "style.css").read_text(encoding="utf-8")
LIGHT, DARK = (
    dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6})", block))
    for block in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)[:2]
)
LOOPS = tuple(f"p{number}" for number in range(1, 9))
ROLES = ("winner", "baseline", "other", "idle")
# Machado, Oliveira and Fernandes (2009), table 1, severity 1.0: on linear RGB
VISION = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                   (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                     (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
                   (0.004733, 0.691367, 0.303900)),
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
}  # fmt: skip


def linear(colour: str) -> np.ndarray:
    """Linear RGB of a hexadecimal colour (sRGB, IEC 61966-2-1)."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * d for d in colour[1:])
    values = np.array([int(digits[k : k + 2], 16) / 255 for k in (0, 2, 4)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(first: str, second: str) -> float:
    """Contrast ratio of WCAG 2."""
    light, dark = sorted(linear(c) @ (0.2126, 0.7152, 0.0722) for c in (first, second))[::-1]
    return float((light + 0.05) / (dark + 0.05))


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIELAB of linear RGB, white D65."""
    matrix = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = np.array(matrix) @ np.clip(rgb, 0, 1) / (0.9505, 1.0, 1.089)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array((116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_can_be_read(theme):
    dark = {**LIGHT, **theme}
    for back in ("back", "card"):
        for ink in ("ink", "soft", "link", "good", "bad"):
            assert contrast(dark[ink], dark[back]) >= 4.5, (ink, back)
    for tone in ("mark", "base", "target", "code"):
        assert contrast(dark["ink"], dark[tone]) >= 4.5, tone


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_marks_of_figures_stand_out_from_the_card(theme):
    for paint in (*LOOPS, *ROLES, "core", "focus", "l2", "l3"):
        assert contrast(theme[paint], theme["card"]) >= 3, paint


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_loops_are_told_apart_with_any_colour_vision(theme, vision):
    """Neighbours in a bar are parted by a line and named beside it, so a small distance does."""
    seen = {p: lab(np.array(VISION[vision]) @ linear(theme[p])) for p in LOOPS}
    for first, second in itertools.combinations(LOOPS, 2):
        distance = float(np.linalg.norm(seen[first] - seen[second]))
        assert distance >= 8, (first, second, distance)
