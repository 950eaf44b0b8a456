"""Hosts as data: ``captured/*.json`` hold the files of /proc and /sys of one host each."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

CAPTURED = Path(__file__).parent / "captured"


@pytest.fixture
def host(tmp_path: Path) -> Callable[[str], Path]:
    """Lays a captured host out below a temporary root."""

    def lay_out(name: str) -> Path:
        root = tmp_path / name
        record = json.loads((CAPTURED / f"{name}.json").read_text(encoding="utf-8"))
        for path, text in record["files"].items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        return root

    return lay_out
