"""The workloads that come with autotune keep the promises of the protocol."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from workload_conformance import WorkloadConformance

from autotune import paths
from autotune.domain.setup import Layout
from autotune.files import config
from autotune.workloads.base import Workload
from autotune.workloads.shipped import workload_of

FORMULA = """
schema: autotune.config/1
machine: haswell-e5-2630v3
{what}
problems:
{problems}
threads: [2]
"""


def made(folder: Path, what: str, problems: str) -> Workload:
    path = folder / "study.yaml"
    path.write_text(FORMULA.format(what=what, problems=problems).lstrip(), encoding="utf-8")
    return workload_of(config.load(path))


class TestIvp(WorkloadConformance):
    """IVPs in the small space of PIRK methods."""

    @pytest.fixture
    def workload(self, tmp_path: Path) -> Workload:
        problem = "  - {ivp: heat2d, method: radau-iia-7, size: 64}"
        return made(tmp_path, "space: pirk-small", problem)

    def test_a_predictor_answers_for_every_candidate(self) -> None:  # type: ignore[override]
        """The engines of IVPs compile or run kerncraft: they have tests of their own."""


class TestStencil(WorkloadConformance):
    """A stencil on a grid, predicted by engine planes."""

    @pytest.fixture
    def workload(self) -> Workload:
        setup = config.load(Path("configs/stencil7.yaml"))
        layouts = (Layout(threads=1),)
        machine = config.machine("haswell-e5-2630v3")
        return workload_of(replace(setup, machine=machine, layouts=layouts))


class TestProgram(WorkloadConformance):
    """A program of the shipped files."""

    @pytest.fixture
    def workload(self) -> Workload:
        setup = config.load(Path("configs/matmul.yaml"))
        return workload_of(replace(setup, machine=config.machine("haswell-e5-2630v3")))


def test_listing_candidates_imports_neither_engines_nor_what_measures() -> None:
    """Nor does ranking, where the predictions are kept."""
    code = (
        "import sys; from pathlib import Path; from autotune.commands.rank import ranked_space;"
        "ranked_space.load(Path('configs/quickstart.yaml')).candidates(1);"
        "heavy = 'jinja2', 'autotune.models.traffic', 'autotune.workloads.program.program_space';"
        "print(*sorted({*heavy} & sys.modules.keys()))"
    )
    root = paths.data_root()
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""
