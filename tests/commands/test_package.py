"""The wheel: built, installed in a new environment, used from another folder."""

import ast
import importlib.metadata
import re
import subprocess
import sys
import tomllib
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


def test_every_library_that_is_imported_is_a_dependency() -> None:
    """Also where another one brings it along today: the next version of that may not.

    What kerncraft needs counts, since its version is pinned.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    stated = [*project["dependencies"], *(line for extra in extras for line in extra)]
    stated += importlib.metadata.requires("kerncraft") or []
    names = {re.split(r"[\[<>=;! ]", line)[0].lower().replace("_", "-") for line in stated}
    brought = importlib.metadata.packages_distributions()
    absent = {}
    for path in (ROOT / "autotune").rglob("*.py"):
        for module in modules_of(path) - set(sys.stdlib_module_names) - {"autotune"}:
            distributions = {name.lower().replace("_", "-") for name in brought.get(module, ())}
            if distributions and not distributions & names:
                absent[module] = str(path.relative_to(ROOT))
    assert not absent


def modules_of(path: Path) -> set[str]:
    """The first names of all modules that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {item.name.partition(".")[0] for item in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found
