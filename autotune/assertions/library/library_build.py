"""The shared libraries of the run time, built from their C sources and kept in the build cache.

One is without MPI; the other also holds wrappers of MPI's functions and is built for one MPI. Both
export only ``ma_functions_1``, the table that programs reach through ``modeling_assertions.h``, and
the second MPI's functions.
"""

import functools
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from autotune.domain.variant import Build
from autotune.errors import WorkFailed
from autotune.toolchain import build_cache, compiler

HEADER = "modeling_assertions.h"
_FOLDER = Path(__file__).resolve().parent
_FLAGS = ("-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden")
_LINK = ("-shared", "-lm", "-ldl", "-pthread")


def header_folder() -> Path:
    """The folder of ``HEADER``, for ``-I``."""
    return _FOLDER


def fortran_source() -> Path:
    """The Fortran module, to be compiled with the program: it needs nothing else."""
    return _FOLDER / "modeling_assertions.f90"


def shared_library() -> Path:
    """``libautotune_assert.so``, the library without MPI, to be loaded by LD_PRELOAD.

    Raises MissingTool where there is no C compiler, WorkFailed where it fails.
    """
    return _built({}, (), ())


def shared_mpi_library(
    wrappers: Mapping[str, str], compile_flags: Sequence[str], link_flags: Sequence[str]
) -> Path:
    """``libautotune_assert_mpi.so``: the same with wrappers of MPI's functions.

    ``wrappers``: C units by file name, which may include ``internal.h``. The flags are those of an
    MPI, as ``autotune.toolchain.mpi.compile_flags`` gives them.
    """
    return _built(wrappers, tuple(compile_flags), tuple(link_flags))


def units() -> dict[str, str]:
    """The C sources and headers of the library without MPI by file name."""
    paths = sorted((*_FOLDER.glob("*.c"), *_FOLDER.glob("*.h")))
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


def _built(wrappers: Mapping[str, str], flags: tuple[str, ...], link: tuple[str, ...]) -> Path:
    built = build_cache.build(
        {**units(), **wrappers}, _compiler(), extra_flags=flags, link=(*_LINK, *link)
    )
    if built.executable is None:
        raise WorkFailed(f"the library of modeling assertions cannot be built: {built.detail}")
    return built.executable


@functools.cache
def _compiler() -> compiler.Compiler:
    names = compiler.USUAL_NAMES
    program = next((name for name in names if shutil.which(name)), names[0])
    return compiler.find(Build(compiler=program, flags=_FLAGS), "the library of assertions")
