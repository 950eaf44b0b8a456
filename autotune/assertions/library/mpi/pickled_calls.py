"""Pickled calls of mpi4py, such as ``comm.send(object)``, recorded as such.

They use the functions of MPI that the upper-case calls use, so a record does not tell them apart
unless the program says which communicator to watch.
"""

import ctypes
import functools
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar, cast

Communicator = TypeVar("Communicator")
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

PICKLED: Final = (
    "send", "bsend", "ssend", "isend", "ibsend", "issend", "recv", "irecv", "sendrecv",
    "bcast", "gather", "scatter", "allgather", "alltoall", "reduce", "allreduce", "scan", "exscan",
)  # fmt: skip
"""Methods of a communicator that pickle objects."""
_classes: dict[type, type] = {}
"""Of watched communicators, by the class of those that are not."""


def communicator(comm: Communicator) -> Communicator:
    """The communicator of mpi4py with its pickled calls recorded as such: ``MPI_Send (pickled)``.

    Duplicates and parts of it are too. Without the library for MPI, it is ``comm`` itself.

        comm = ma.communicator(MPI.COMM_WORLD)
    """
    if _marker() is None:
        return comm
    kind = type(comm)
    if kind not in _classes:
        _classes[kind] = _marked(kind)
    return cast("Communicator", _classes[kind](comm))


@functools.cache
def _marker() -> Callable[[int], None] | None:
    """The function that says whether this thread is within a pickled call."""
    try:
        return ctypes.PYFUNCTYPE(None, ctypes.c_int)(("ma_pickled_1", ctypes.PyDLL(None)))
    except AttributeError:
        return None


def _marked(kind: type) -> type:
    """The class of communicators with methods that mark their calls."""
    methods = {name: _marking(getattr(kind, name)) for name in PICKLED if hasattr(kind, name)}
    return type(kind.__name__, (kind,), methods)


def _marking(method: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    marker = _marker() or (lambda _: None)

    @functools.wraps(method)
    def marked(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        marker(1)
        try:
            return method(*args, **kwargs)
        finally:
            marker(0)

    return marked
