"""What is written lies there whole or not at all, and over nothing of another kind."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from autotune.commands.export.document import ExportDocument
from autotune.commands.export.export_options import ExportRequest
from autotune.commands.export.flow import ENDINGS, export
from autotune.errors import InputError
from autotune.results.export import export_files
from autotune.results.export.readers import autotune_wisdom as reader


def silent(stage: str, done: int, total: int, detail: str = "") -> None:
    """Nothing is shown."""


@pytest.fixture
def write(filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    def run(kind: str, output: str | None = None, **fields: object) -> ExportDocument:
        path = None if output is None else Path(output)
        wanted = ExportRequest(**({"study": "quick", "format": kind, "output": path} | fields))
        return export(wanted, str(filled), silent)

    return run


FORMATS = ["header", "wisdom", "t4", "csv", "parquet"]


@pytest.mark.parametrize("kind", FORMATS)
def test_only_its_own_kind_is_replaced(kind: str, write, tmp_path: Path) -> None:
    if kind == "parquet":
        pytest.importorskip("pyarrow", reason="optional: pyarrow is not installed")
    path = write(kind).file
    assert path.name == f"quick{ENDINGS[kind]}"
    content = path.read_bytes()
    path.chmod(0o640)
    assert write(kind).file == path
    assert path.read_bytes() == content
    assert path.stat().st_mode & 0o777 == 0o640
    for other in ("my own notes\n", '{"results": []}'):
        path.write_text(other, encoding="utf-8")
        with pytest.raises(InputError, match=r"a file that is not .*--force"):
            write(kind)
        assert path.read_text(encoding="utf-8") == other
    write(kind, force=True)
    assert path.read_bytes() == content
    path.write_bytes(b"")
    write(kind)
    assert path.read_bytes() == content
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_force_begins_a_wisdom_file_anew(write) -> None:
    path = write("wisdom", problem="heat2d-N256").file
    added = write("wisdom", problem="heat2d-N2048")
    assert "1 entries of" in added.notes[-1]
    assert len(reader.load(str(path)).sections[0].entries) == 2
    write("wisdom", problem="heat2d-N256", force=True)
    assert len(reader.load(str(path)).sections[0].entries) == 1


def test_folders_links_and_places_that_cannot_be_written(write, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="a folder"):
        write("header", "folder")
    for place in ("folder", "/dev/null"):
        with pytest.raises(InputError, match=f"{place}: .*neither a file nor a new name"):
            write("header", place, force=True)
    assert Path("/dev/null").is_char_device()
    with pytest.raises(InputError, match=r"cannot be written.*-o FILE"):
        write("header", "/proc/none/x.h")
    (tmp_path / "real.h").write_bytes(b"")
    (tmp_path / "link.h").symlink_to("real.h")
    write("header", "link.h")
    assert (tmp_path / "link.h").is_symlink()
    assert (tmp_path / "real.h").read_text(encoding="utf-8").startswith("/* autotune.header/1")
    assert write("header", "new/folder/a.h").file.exists()


def test_a_failure_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    export_files.write(path, b"before")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left"):
        export_files.write(path, b"after")
    assert path.read_bytes() == b"before"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_store_or_study_that_is_not_there(write, tmp_path: Path) -> None:
    wanted = ExportRequest(study="quick", format="header")
    with pytest.raises(InputError, match=r"none\.sqlite"):
        export(wanted, "none.sqlite", silent)
    with pytest.raises(InputError, match="quick"):
        write("header", study="quikc")
    assert not list(tmp_path.iterdir())


def test_readers_are_written_beside(write, tmp_path: Path) -> None:
    done = write("wisdom", readers=tmp_path / "src")
    assert [path.name for path in done.readers] == ["autotune_wisdom.h", "autotune_wisdom.py"]
    code = "import autotune_wisdom as w; print(w.load('quick.wisdom.json').lookup(1, 2).candidate)"
    environment = {"PYTHONPATH": str(tmp_path / "src"), "PATH": os.environ["PATH"]}
    found = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.choices is not None
    assert found.stdout.strip() == done.choices.sections[0].entries[0].candidate
    write("wisdom", readers=tmp_path / "src")
    (tmp_path / "src" / "autotune_wisdom.h").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="not a reader"):
        write("wisdom", readers=tmp_path / "src")


def test_two_exports_into_one_wisdom_file_lose_nothing(filled: Path, tmp_path: Path) -> None:
    def run(problem: str) -> None:
        for _ in range(2):
            path = tmp_path / "app.json"
            wanted = ExportRequest(study="quick", format="wisdom", output=path, problem=problem)
            export(wanted, str(filled), silent)

    both = [threading.Thread(target=run, args=(f"heat2d-N{n}",)) for n in (256, 2048)]
    for each in both:
        each.start()
    for each in both:
        each.join()
    assert len(reader.load(str(tmp_path / "app.json")).sections[0].entries) == 2


def test_a_library_of_another_name_stays_as_it_is(tmp_path: Path) -> None:
    texts = {"include/heat.h": "", "README.md": ""}
    export_files.refuse_other_library(tmp_path / "new", texts)
    export_files.write_folder(tmp_path / "lib", texts)
    (tmp_path / "lib" / "include" / "heat_mpi.h").touch()  # of an export with ranks
    export_files.refuse_other_library(tmp_path / "lib", texts)
    with pytest.raises(InputError, match="a folder with the library heat"):
        export_files.refuse_other_library(tmp_path / "lib", {"include/wave.h": ""})
