"""What ``measure --dissect`` says after Ctrl-C."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.measure import measure_one


def test_the_terms_so_far_are_named_and_no_continuation_is_promised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt(str(tmp_path / "kept.dissection"))

    monkeypatch.setattr(measure_one, "measure", stopped)
    words = ["measure", "configs/quickstart.yaml", "--candidate", "jli", "--dissect"]
    answer = CliRunner().invoke(app, words)
    assert answer.exit_code == 130
    said = " ".join(answer.stderr.split())
    assert said.endswith("kept.dissection: a new call begins anew")
    assert "rounds" in said
