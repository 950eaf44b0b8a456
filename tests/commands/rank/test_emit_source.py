"""What a candidate is made of, written into a folder."""

import shlex
import subprocess
from pathlib import Path

import pytest
from refusals import faults

from autotune.commands.rank.emit_source import emit_sources
from autotune.commands.rank.ranked_space import load
from autotune.workloads.base import EnumeratedSpace, Workload

CONFIG = """\
schema: autotune.config/1
title: heat
machine: generic-x86-64
skeleton: pirk
space: pirk-orders
problems:
  - {ivp: heat2d, method: radau-iia-5, correctors: 4, size: 40}
  - {ivp: heat2d, method: radau-iia-5, correctors: 4, size: 50}
builds: [{compiler: gcc, flags: [-O2]}]
threads: [1]
"""


@pytest.fixture
def heat(tmp_path: Path) -> tuple[Workload, EnumeratedSpace]:
    path = tmp_path / "heat.yaml"
    path.write_text(CONFIG, encoding="utf-8")
    workload = load(path)
    return workload, workload.candidates(2)


def test_every_file_of_a_candidate_is_written(
    heat: tuple[Workload, EnumeratedSpace], tmp_path: Path
) -> None:
    workload, space = heat
    folder = tmp_path / "a" / "b"
    *lines, build, start = emit_sources(workload, space, space.legal[0].id, folder)
    written = [Path(line.removeprefix("wrote ")) for line in lines]
    assert set(written) == set(folder.iterdir())
    subprocess.run(
        [*shlex.split(build.removeprefix("build: "))[:-2], *map(str, folder.glob("*.c")), "-lm"],
        cwd=tmp_path, check=True,
    )  # fmt: skip
    environment, _, arguments = start.removeprefix("start as tune does: ").partition(" ./a.out ")
    assert "OMP_PROC_BIND=close" in environment
    done = subprocess.run(
        [tmp_path / "a.out", *shlex.split(arguments)], capture_output=True, text=True, check=True
    )
    assert '"seconds":' in done.stdout
    assert {path.suffix for path in written} >= {".c"}
    texts = workload.sources(space.legal[0], folder)
    assert {path.name: path.read_text(encoding="utf-8") for path in written} == dict(texts)


@pytest.mark.parametrize("kind", ["id", "identity", "label"])
def test_any_name_of_a_candidate_is_taken(
    heat: tuple[Workload, EnumeratedSpace], tmp_path: Path, kind: str
) -> None:
    workload, space = heat
    assert emit_sources(workload, space, getattr(space.legal[3], kind), tmp_path / "out")


def test_a_name_of_several_candidates_lists_them(
    heat: tuple[Workload, EnumeratedSpace], tmp_path: Path
) -> None:
    workload, space = heat
    variant = space.legal[0].variant.label
    ids = [c.id for c in space.legal if c.id.startswith(variant)]
    told = faults(lambda: emit_sources(workload, space, variant, tmp_path / "out"))
    assert told == (
        f"--emit: '{variant}' names 2 candidates; expected an id, an identity or a label, as"
        f" variants prints them ({ids[0]}, {ids[1]})"
    )
    assert not (tmp_path / "out").exists()


def test_an_unknown_name_is_told_with_the_nearest(
    heat: tuple[Workload, EnumeratedSpace], tmp_path: Path
) -> None:
    workload, space = heat
    wrong = space.legal[0].id[:-2] + "zz"
    told = faults(lambda: emit_sources(workload, space, wrong, tmp_path / "out"))
    assert told.startswith(f"--emit: unknown '{wrong}'; expected an id")
    assert f"did you mean {space.legal[0].id}?" in told


def test_a_folder_that_cannot_be_made_is_told(
    heat: tuple[Workload, EnumeratedSpace], tmp_path: Path
) -> None:
    workload, space = heat
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "out"
    told = faults(lambda: emit_sources(workload, space, space.legal[0].id, folder))
    assert told == f"{folder}: cannot be written: Not a directory"
