"""The shipped example whose kernel a generator writes."""

import importlib.util
from pathlib import Path

import own_programs as own
import pytest

from autotune import paths

if importlib.util.find_spec("pystencils") is None:
    pytest.skip("optional: pystencils is not installed", allow_module_level=True)


def test_a_generated_kernel_is_built_and_tells_time_and_sum(tmp_path: Path):
    shipped = paths.folder("variants/program") / "pystencils.yaml"
    examples = paths.data_root() / "examples" / "pystencils"
    text = shipped.read_text(encoding="utf-8").replace("../../examples/pystencils", str(examples))
    settings = own.CONFIG.replace("{n: 500}", "{n: 16, sweeps: 1}").replace(
        "compile: 60 s", "compile: 300 s"
    )
    own.put(tmp_path, text, settings + "threads: [1]\n", {})
    _, measurer, named = own.opened(tmp_path / "study.yaml")
    prepared = measurer.prepare(named["0 0 none any"])
    assert prepared.status == "ok", prepared.detail
    assert prepared.error == 0
    assert "pystencils" in prepared.provenance["packages"]
