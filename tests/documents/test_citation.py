"""CITATION.cff names this version, and what the Citation File Format needs."""

from pathlib import Path

import yaml

from autotune.version import VERSION

ROOT = Path(__file__).parents[2]


def test_the_citation_has_what_the_format_needs() -> None:
    text = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(text)
    assert text["version"] == VERSION
    assert text["license"] == "Apache-2.0"
    for work in text["references"]:
        assert {"type", "title", "authors"} <= set(work)
