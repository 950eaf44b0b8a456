"""The wheel: built, installed in a new environment, used from another folder."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_the_wheel_works_from_another_directory(tmp_path: Path) -> None:
    """Dependencies come from this environment; the package itself only from the wheel."""
    subprocess.run(
        [
            sys.executable,
            "-m",
            "build",
            "--wheel",
            "--no-isolation",
            "-o",
            str(tmp_path),
            str(ROOT),
        ],
        check=True,
        capture_output=True,
    )
    wheel = next(tmp_path.glob("autotune_ecm-*.whl"))
    new = [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")]
    subprocess.run(new, check=True)
    python = tmp_path / "venv" / "bin" / "python"
    install = ["install", "-q", "--no-deps", "--no-index", "--no-compile", str(wheel)]
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), *install],
        check=True,
        capture_output=True,
    )
    site = next((tmp_path / "venv" / "lib").glob("python3*/site-packages"))
    own = next(path for path in map(Path, sys.path) if (path / "numpy").is_dir())
    (site / "dependencies.pth").write_text(f"{own}\n", encoding="utf-8")
    work = tmp_path / "elsewhere"
    work.mkdir()

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [tmp_path / "venv" / "bin" / "autotune", *arguments],
            cwd=work,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    code = "import autotune; print(autotune.__file__)"
    where = subprocess.run(
        [python, "-c", code], cwd=work, capture_output=True, text=True, check=True
    ).stdout
    assert str(site) in where
    assert "haswell-e5-2630v3" in run("machine", "list")
    (work / "mine.yaml").write_text(
        "schema: autotune.config/1\n"
        "title: from a wheel\n"
        "machine: generic-x86-64\n"
        "skeleton: pirk\n"
        "space: pirk-orders\n"
        "problems: [{ivp: wave1d, method: lobatto-iiic-6, correctors: 5, size: 5000}]\n"
        "threads: [1]\n",
        encoding="utf-8",
    )
    assert "wave1d-N5000" in run("rank", "mine.yaml")
