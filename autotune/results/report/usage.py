"""How a candidate is built and started by hand: the lines that a report and ``--emit`` show."""

from autotune.domain.variant import Build, ExecutionLayout


def build_line(build: Build, layout: ExecutionLayout, folder: str) -> str:
    """The command that builds the C sources of a folder."""
    alone = layout.ranks == 1
    compiler = (
        build.compiler if alone else f"OMPI_CC={build.compiler} MPICH_CC={build.compiler} mpicc"
    )
    return " ".join([compiler, *build.flags, "-fopenmp", f"{folder}/*.c", "-lm"])


def environment(layout: ExecutionLayout) -> str:
    """What stands in front of the program where it is started, as in a measurement.

    Threads that are not bound may share a core.
    """
    if layout.ranks > 1:
        return f"OMP_NUM_THREADS={layout.threads} mpiexec -n {layout.ranks}"
    bind = "spread" if layout.placement == "scatter" else "close"
    return f"OMP_NUM_THREADS={layout.threads} OMP_PLACES=cores OMP_PROC_BIND={bind}"
