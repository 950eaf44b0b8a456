"""The site is built without a warning, and its pages fetch nothing from a network."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FETCHED = re.compile(
    r"<(?:script|img|iframe)[^>]*\ssrc=[\"']?(?:https?:)?//|<link[^>]*rel=[\"']?(?:stylesheet|"
    r"preconnect)[^>]*href=[\"']?(?:https?:)?//",
    re.I,
)


def test_the_site_is_built_strictly_and_needs_no_network(tmp_path: Path) -> None:
    if importlib.util.find_spec("material") is None:
        pytest.skip("optional: mkdocs-material is not installed (extra docs)")
    words = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "-q",
        "-d",
        str(tmp_path / "site"),
    ]
    done = subprocess.run(
        words,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    pages = [*(tmp_path / "site").rglob("*.html")]
    assert len(pages) > 80
    for page in pages:
        assert not FETCHED.search(page.read_text(encoding="utf-8")), page
    home = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "pictures/quickstart.svg" in home
    assert (tmp_path / "site" / "pictures" / "quickstart.svg").exists()
