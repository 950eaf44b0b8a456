"""A cache of the session's own, and studies of few short samples."""

from collections.abc import Callable
from pathlib import Path

import pytest

import autotune as at


@pytest.fixture
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., at.StudyResult]:
    """``at.tune`` with few short samples, the store and the working folder in ``tmp_path``."""
    monkeypatch.chdir(tmp_path)

    def tuned(target: object, **keywords: object) -> at.StudyResult:
        measuring = {"rounds": 2, "samples": 1, "attempts": 1, "min_sample": "1 ms"}
        usual: dict[str, object] = {
            "store": "study.sqlite",
            "budget": "6 evaluations",
            "measuring": measuring,
            "limits": {"run": "30 s"},
        }
        return at.tune(target, **{**usual, **keywords})  # type: ignore[arg-type]

    return tuned
