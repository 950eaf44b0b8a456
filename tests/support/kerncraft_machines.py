"""kerncraft's own machine files, from its source distribution; fetched once and kept."""

import contextlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from functools import cache
from pathlib import Path

import pytest

_VERSION = "0.8.18"
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "autotune" / "tests"


@cache
def folder() -> Path:
    """The folder ``machine-files``; skips the test where it cannot be had."""
    place = _CACHE / f"kerncraft-{_VERSION}-machine-files"
    if not place.is_dir():
        try:
            _fetch(place)
        except (OSError, subprocess.SubprocessError, StopIteration) as error:
            reason = str(error).splitlines()[0]
            pytest.skip(f"optional: kerncraft's source distribution cannot be had: {reason}")
    return place


def _fetch(place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as scratch:
        command = [sys.executable, "-m", "pip", "download", f"kerncraft=={_VERSION}"]
        command += [
            "--no-binary",
            "kerncraft",
            "--no-deps",
            "--quiet",
            "--dest",
            scratch,
        ]
        subprocess.run(command, check=True, capture_output=True, timeout=300)
        archive = next(Path(scratch).glob("kerncraft-*.tar.gz"))
        fresh = Path(scratch) / "files"
        fresh.mkdir()
        with tarfile.open(archive) as files:
            for member in files:
                data = files.extractfile(member)
                if "/examples/machine-files/" in member.name and data is not None:
                    (fresh / Path(member.name).name).write_bytes(data.read())
        with contextlib.suppress(FileExistsError, OSError):  # another test run was quicker
            fresh.rename(place)


def machine_file(name: str, compiler: str = "gcc") -> str:
    """The text of a machine file, with the compilers cut down to its gcc line, named ``compiler``.

    Most files name icc first. kerncraft takes the first that it finds; the tests must not depend on
    which compilers there are beside gcc.
    """
    text = (folder() / f"{name}.yml").read_text(encoding="utf-8")
    text = re.sub(r"(?m)^\s*- (icc|clang|armclang):.*\n", "", text)
    return re.sub(r"(?m)^(\s*- )gcc:", rf"\g<1>{compiler}:", text)
