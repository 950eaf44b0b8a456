"""Sources of ``foreign.py``: Debian packages by apt, PyPI packages by pip, kept in a cache folder.

No root: apt gets lists and caches of its own below the cache folder, made from the mirrors that
this machine is set up with; packages of PyPI go into an environment there. What is there already
is not fetched again, but its checksum is looked at.
"""

import hashlib
import math
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path

import foreign_programs

from autotune.errors import Fault, InputError

Progress = Callable[[str], None]
_APT_HELPER = "/usr/lib/apt/apt-helper"
_INPUT_BYTES = 1_000_000


class Sources:
    """Unpacked sources and environments below a cache folder."""

    def __init__(self, cache: Path, progress: Progress) -> None:
        self.cache = cache.absolute()
        self._progress = progress
        self._apt: tuple[str, ...] = ()

    @property
    def python(self) -> Path:
        """The environment of the packages of PyPI."""
        return self.cache / "python"

    def folder(self, program: foreign_programs.ForeignProgram) -> Path:
        """The unpacked source of a program."""
        return self.cache / "sources" / (program.debian.package if program.debian else "")

    def path(self) -> str:
        """PATH with the commands of the packages first."""
        built = self.cache / "sources" / "zstd" / "usr" / "bin"
        return os.pathsep.join((str(self.python / "bin"), str(built), os.environ.get("PATH", "")))

    def fetch(self, program: foreign_programs.ForeignProgram) -> None:
        """Fetch and unpack what a program needs; InputError if it is not to be had."""
        if program.debian is not None:
            self._unpacked(program.debian, self.folder(program))
        if program.pypi:
            self._installed(program.pypi)

    def inputs(self, folder: Path) -> None:
        """Write the input files of the programs."""
        lz4 = next(program for program in foreign_programs.PROGRAMS if program.name == "lz4")
        self.fetch(lz4)
        sources = sorted(self.folder(lz4).rglob("*.c"))
        text = b"".join(source.read_bytes() for source in sources)
        repeated = text * (1 + _INPUT_BYTES // len(text))
        (folder / foreign_programs.INPUT).write_bytes(repeated[:_INPUT_BYTES])
        first, second = foreign_programs.CHAINS
        (folder / first).write_text(chain(180, 100.0), encoding="ascii")
        (folder / second).write_text(chain(160, 97.0), encoding="ascii")

    # --- Debian -------------------------------------------------------------------------------

    def _unpacked(self, wanted: foreign_programs.DebianFile, folder: Path) -> None:
        archive = self.cache / "archives" / wanted.file
        if not archive.exists():
            self._progress(f"fetching {wanted.file}")
            archive.parent.mkdir(parents=True, exist_ok=True)
            self._downloaded(wanted, archive)
        checked(archive, wanted.sha256)
        if folder.exists():
            return
        self._progress(f"unpacking {wanted.file}")
        part = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        if wanted.built:
            _run(["dpkg-deb", "-x", str(archive), str(part)])
        else:
            with tarfile.open(archive) as packed:
                members = [m for m in packed if m.name.startswith(wanted.only)]
                packed.extractall(part, members, filter="data")
        part.rename(folder)

    def _downloaded(self, wanted: foreign_programs.DebianFile, archive: Path) -> None:
        if wanted.built:
            _run([*self._apt_get(), "download", wanted.package], folder=archive.parent)
            found = sorted(archive.parent.glob(f"{wanted.package}_*.deb"))
            if found and not archive.exists():
                found[-1].replace(archive)  # apt writes an epoch's colon as %3a
            return
        listed = _run([*self._apt_get(), "source", "--print-uris", wanted.package])
        for line in listed.splitlines():
            words = line.split()
            if len(words) == 4 and words[1] == wanted.file:
                address = words[0].strip("'")
                _run([_APT_HELPER, "download-file", address, str(archive), words[3]])
                return
        absent = f"Debian's index of sources has no {wanted.file}, but\n{listed}"
        raise InputError(Fault(where=wanted.package, found=absent))

    def _apt_get(self) -> Sequence[str]:
        """The ``apt-get`` of lists of our own, which are fetched once per run."""
        if not self._apt:
            folder = self.cache / "apt"
            (folder / "lists" / "partial").mkdir(parents=True, exist_ok=True)
            (folder / "sources.list").write_text(_mirrors(), encoding="utf-8")
            user = _run(["id", "-un"]).strip()
            settings = {
                "Dir::Etc::sourcelist": folder / "sources.list",
                "Dir::Etc::sourceparts": "-",
                "Dir::State::lists": folder / "lists",
                "Dir::Cache::pkgcache": "",
                "Dir::Cache::srcpkgcache": "",
                "APT::Sandbox::User": user,
            }
            options = (("-o", f"{name}={value}") for name, value in settings.items())
            self._apt = ("apt-get", *(word for pair in options for word in pair))
            self._progress("reading Debian's index")
            _run([*self._apt, "update"])
        return self._apt

    # --- PyPI ---------------------------------------------------------------------------------

    def _installed(self, requirements: Sequence[str]) -> None:
        done = self.python / "installed.txt"
        there = done.read_text(encoding="utf-8").splitlines() if done.exists() else []
        missing = [requirement for requirement in requirements if requirement not in there]
        if not missing:
            return
        self._progress(f"installing {', '.join(missing)}")
        if not there:
            _run([sys.executable, "-m", "venv", "--clear", str(self.python)])
        pip = [str(self.python / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        _run([*pip, "--only-binary", ":all:", *missing])
        done.write_text("\n".join((*there, *missing)), encoding="utf-8")


def checked(archive: Path, sha256: str) -> None:
    """Refuse an archive whose checksum is another one, and remove it."""
    with archive.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    if digest != sha256:
        archive.unlink()
        found, expected = f"its SHA256 is {digest}", sha256
        hint = "it was removed"
        raise InputError(Fault(where=archive.name, found=found, expected=expected, hint=hint))


def chain(atoms: int, turn: float) -> str:
    """A made-up chain of carbon atoms: strands of 18 atoms, each a helix of ``turn`` degrees."""
    lines = []
    for i in range(atoms):
        strand, step = divmod(i, 18)
        angle, radius = math.radians(turn) * i, 2.3 + 0.05 * (i % 7)
        x = radius * math.cos(angle) + 10 * (strand % 4)
        y = radius * math.sin(angle) + 10 * (strand // 4)
        z = 1.5 * (17 - step if strand % 2 else step)
        lines.append(
            f"ATOM  {i + 1:5d}  CA  ALA A{i + 1:4d}    {x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00"
            "           C"
        )
    return "\n".join([*lines, "TER", ""])


def _mirrors() -> str:
    """Lines of a sources.list for Debian's packages and sources, from apt's own settings."""
    release = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    wanted = "$(REPO_URI)|$(CODENAME)|$(COMPONENT)|$(CREATED_BY)"
    lines = set[str]()
    for target in _run(["apt-get", "indextargets", "--format", wanted]).splitlines():
        mirror, codename, component, made_by = target.split("|")
        if (codename, component, made_by) == (release, "main", "Packages"):
            lines.update(f"{kind} {mirror} {codename} main" for kind in ("deb", "deb-src"))
    if not lines:
        raise InputError(
            Fault(where="apt", found=f"no mirror of Debian {release or 'at all'} in its settings")
        )
    return "\n".join(sorted(lines)) + "\n"


def _run(command: Sequence[str], folder: Path | None = None) -> str:
    """What a command prints; InputError with its last words if it fails."""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=600
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(Fault(where=command[0], found=str(error))) from error
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-4:])
        raise InputError(Fault(where=command[0], found=f"it failed: {last}"))
    return done.stdout
