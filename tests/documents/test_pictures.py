"""The picture of the README is drawn from the document of `autotune compare`."""

import importlib
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "generate"))
result_picture = importlib.import_module("result_picture")


def row(name: str, measured: float | None, predicted: float) -> dict[str, object]:
    return {
        "candidate": f"{name}@p",
        "variant": name,
        "measured_s": measured,
        "measured_interval_s": measured and [0.9 * measured, 1.1 * measured],
        "predicted_s": predicted,
    }


def test_a_picture_has_a_row_for_every_measured_candidate() -> None:
    problem = {
        "problem": "p",
        "best": "fast@p",
        "baseline": "slow@p",
        "speedup": 2.0,
        "speedup_interval": [1.9, 2.1],
        "measured": "2 of 9",
        "evaluated": [
            row("slow", 2e-3, 1.8e-3),
            row("fast", 1e-3, 1e-3),
            row("broken", None, 1e-3),
        ],
    }
    drawing = ET.fromstring(result_picture.picture(problem))
    texts = [element.text or "" for element in drawing.findall(".//{*}text")]
    assert "p: 2.00 times as fast as the baseline (1.90 to 2.10)" in texts
    assert texts.index("fast (winner)") < texts.index("slow (baseline)")
    assert "1 ms" in texts
    assert not [text for text in texts if "broken" in text]


def test_the_pictures_of_the_pages_are_drawings() -> None:
    for path in (ROOT / "docs" / "pictures").glob("*.svg"):
        drawing = ET.fromstring(path.read_text(encoding="utf-8"))
        assert drawing.find("{*}title") is not None, path
        assert path.stat().st_size < 50_000
