"""Ten programs that were not written for autotune: where they come from and how a user starts them.

The commands are what a user types who has unpacked the source and read its README; the input files
are made by ``foreign_fetch``. Checksums are SHA256 as Debian's index lists them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from autotune.errors import Fault, InputError, nearest

INPUT = "input.txt"
"""Text to compress or to hash, in the folder in which the commands are run."""
CHAINS = ("chain1.pdb", "chain2.pdb")
"""Two chains of atoms in the format of the Protein Data Bank, in the same folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DebianFile:
    """A file of a Debian package: its upstream source, or the built package."""

    package: str
    file: str
    sha256: str
    only: str = ""
    """The part of the archive that is unpacked; empty: all."""

    @property
    def built(self) -> bool:
        """A built package, not a source."""
        return self.file.endswith(".deb")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedEdit:
    """One edit that a user makes because ``init`` names it: more options of ``init``."""

    named_by: str
    """A regular expression; the edit is made only where the output of ``init`` has it."""
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignProgram:
    """A program and the ``autotune init`` that a user types for it."""

    name: str
    kind: str
    words: tuple[str, ...]
    """What ``init`` is given; ``{folder}`` is the unpacked source."""
    debian: DebianFile | None = None
    pypi: tuple[str, ...] = ()
    """Requirements that pip installs into an environment of its own, first on PATH."""
    edit: NamedEdit | None = None


_LZ4 = DebianFile(
    package="lz4",
    file="lz4_1.9.4.orig.tar.gz",
    sha256="0b0e3aa07c8c063ddf40b082bdf7e37a1562bda40a0ff5272957f3e987e0e54b",
)

PROGRAMS = (
    ForeignProgram(
        name="lz4",
        kind="Makefile project",
        words=("{folder}/lz4-1.9.4", "--", "-b1", "-i1", INPUT),
        debian=_LZ4,
    ),
    ForeignProgram(
        name="zstd",
        kind="command on PATH",
        words=("zstd", "--", "-b3", "-i1", INPUT),
        debian=DebianFile(
            package="zstd",
            file="zstd_1.5.4+dfsg2-5_amd64.deb",
            sha256="3f6f833ae2fd533a0c9238310aef1148f51a64aa5d5f1278451ddc793d4d6d15",
        ),
    ),
    ForeignProgram(
        name="bench_gemm",
        kind="C++ with headers",
        words=(
            "{folder}/eigen-3.4.0/bench/bench_gemm.cpp",
            "--",
            *("-s", "384", "384", "384", "-t", "4"),
        ),
        debian=DebianFile(
            package="eigen3",
            file="eigen3_3.4.0.orig.tar.bz2",
            sha256="b4c198460eba6f28d34894e3a5710998818515104d6e74e5cc331ce31e46e626",
        ),
    ),
    ForeignProgram(
        name="stream",
        kind="C source",
        words=("{folder}/petsc-3.18.5/src/benchmarks/streams/BasicVersion.c",),
        debian=DebianFile(
            package="petsc",
            file="petsc_3.18.5+dfsg1.orig.tar.xz",
            sha256="e80001ace81706271c25701d3200e75cb62d69194f9e0ed85e4ae213eecb33b6",
            only="petsc-3.18.5/src/benchmarks/streams",
        ),
    ),
    ForeignProgram(
        name="tmalign",
        kind="Fortran source",
        words=("{folder}/TMalign.f", "--", *CHAINS),
        debian=DebianFile(
            package="tm-align",
            file="tm-align_20190822+dfsg.orig.tar.xz",
            sha256="b124e9056024e170462b61b01865dc65abad7f41b933a955ba5d84ebaddcac56",
        ),
    ),
    ForeignProgram(
        name="numba",
        kind="numba script",
        words=(
            *("python", "-m", "numpy_groupies.benchmarks"),
            *("--funcs", "sum", "--size", "1e5", "--threads", "2"),
        ),
        pypi=("numba==0.68.1", "numpy_groupies==0.16.0"),
        edit=NamedEdit(named_by=r"more time: --limit 240", options=("--limit", "240")),
    ),
    ForeignProgram(
        name="xxhash",
        kind="CMake project",
        words=("{folder}/xxHash-0.8.1/cmake_unofficial", "--", "-b3", "-i1", INPUT),
        debian=DebianFile(
            package="xxhash",
            file="xxhash_0.8.1.orig.tar.gz",
            sha256="3bb6b7d6f30c591dd65aaaff1c8b7a5b94d81687998ca9400082c739a690436c",
        ),
    ),
    ForeignProgram(
        name="cpi",
        kind="MPI program",
        words=("{folder}/mpich-4.0.2/examples/cpi.c",),
        debian=DebianFile(
            package="mpich",
            file="mpich_4.0.2.orig.tar.xz",
            sha256="b27039f964afeb6b8a3e009c56b441cbe368c26d6d6476ad3bb7190996875860",
            only="mpich-4.0.2/examples",
        ),
    ),
    ForeignProgram(
        name="kissfft",
        kind="C of several sources",
        words=("{folder}/kissfft-131.1.0/test/benchkiss.c", "--", "-x", "20000", "-n", "1024"),
        debian=DebianFile(
            package="kissfft",
            file="kissfft_131.1.0.orig.tar.gz",
            sha256="76c1aac87ddb7258f34b08a13f0eebf9e53afa299857568346aa5c82bcafaf1a",
        ),
    ),
    ForeignProgram(
        name="isort",
        kind="Python command",
        words=("isort", "--jobs", "1", "--diff", "--quiet", "{python folder}/numpy/lib"),
        pypi=("isort==9.0.2", "numba==0.68.1"),
    ),
)


def chosen(names: Sequence[str]) -> tuple[ForeignProgram, ...]:
    """The programs with these names, all without any; InputError for another name."""
    by_name = {program.name: program for program in PROGRAMS}
    for name in names:
        if name not in by_name:
            raise InputError(
                Fault(
                    where="--only",
                    found=f"{name!r} is none of the programs",
                    expected=", ".join(by_name),
                    hint=nearest(name, by_name),
                )
            )
    return tuple(by_name[name] for name in names) or PROGRAMS
