"""The library of assertions for one MPI: wrappers are written for the functions that it has."""

from pathlib import Path

from autotune.assertions.library import library_build
from autotune.assertions.library.mpi import wrapper_source
from autotune.errors import Fault, InputError
from autotune.toolchain import child_process, compiler
from autotune.toolchain.mpi import Mpi, compile_flags
from autotune.toolchain.scratch_folder import temporary_folder

_FOLDER = Path(__file__).resolve().parent
_LIMIT = 60.0


def mpi_library(mpi: Mpi, where: str = "the MPI of the program") -> Path:
    """``libautotune_assert_mpi.so`` for programs of this MPI, to be loaded by LD_PRELOAD.

    Raises MissingTool where the MPI has no mpicc, InputError where mpicc does not work.
    """
    compiling, linking = compile_flags(mpi, where)
    return library_build.shared_mpi_library(units(mpi, where), compiling, linking)


def units(mpi: Mpi, where: str = "the MPI of the program") -> dict[str, str]:
    """The C sources and headers that count messages of this MPI, by file name."""
    paths = sorted((*_FOLDER.glob("*.c"), *_FOLDER.glob("*.h")))
    return {
        **{path.name: path.read_text(encoding="utf-8") for path in paths},
        "wrappers_c.c": wrapper_source.c_source(declared_functions(mpi, where)),
        "wrappers_fortran.c": wrapper_source.fortran_source(),
    }


def declared_functions(mpi: Mpi, where: str = "the MPI of the program") -> frozenset[str]:
    """The functions that ``mpi.h`` declares, without ``MPI_``."""
    compile_flags(mpi, where)  # it has an mpicc
    with temporary_folder() as folder:
        source = folder / "declarations.c"
        source.write_text("#include <mpi.h>\n", encoding="ascii")
        outcome = child_process.run(
            [mpi.mpicc or "", "-E", str(source)],
            timeout=_LIMIT,
            environment=compiler.environment(),
        )
    names = wrapper_source.declared_functions(outcome.out)
    if "Send" not in names:
        fault = Fault(
            where=where,
            found=f"`{mpi.mpicc} -E` shows no PMPI_Send in mpi.h: {outcome.describe()}",
            expected="an MPI with the profiling interface, PMPI_",
        )
        raise InputError(fault)
    return names
