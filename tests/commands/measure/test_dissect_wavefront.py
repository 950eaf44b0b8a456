"""Candidates of several sweeps in one pass are not dissected: a probe runs one sweep alone."""

from pathlib import Path

import pytest

from autotune.commands.measure.measure_one import measure
from autotune.commands.rank.ranked_space import load
from autotune.errors import InputError

SPACE = """\
schema: autotune.space/1
skeleton: jacobi
title: one sweep or two
parameters: {t: [1, 2]}
rules:
  - {wavefront: {kernel: sweep, sweeps: $t}, when: {t: 2}}
baseline: {t: 1}
"""
CONFIG = """\
schema: autotune.config/1
title: two sweeps
machine: generic-x86-64
skeleton: jacobi
space: ./space.yaml
problems:
  - {stencil: star2d-5pt, size: 20}
builds: [{compiler: gcc, flags: [-O1]}]
threads: [1]
"""


def _silent(stage: str, done: int, total: int, detail: str = "") -> None:
    """Nothing is shown."""


def test_a_pass_of_several_sweeps_is_refused_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "space.yaml").write_text(SPACE, encoding="utf-8")
    path = tmp_path / "two.yaml"
    path.write_text(CONFIG, encoding="utf-8")
    with pytest.raises(InputError, match="makes several sweeps in one pass over the grid"):
        measure(load(path), "t2@star2d-5pt-N20-T1", phases=False, progress=_silent, dissect=True)
