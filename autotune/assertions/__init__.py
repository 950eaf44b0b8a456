"""Modeling assertions: what a program says about its own counts, checked in a run.

Programs use this module: ``import autotune.assertions as ma``.
"""

from autotune.assertions.library.mpi.pickled_calls import communicator
from autotune.assertions.library.python_surface import (
    coll,
    derive,
    flop,
    load,
    loop,
    recv,
    region,
    send,
    store,
    sub,
    var,
)

__all__ = [
    "coll", "communicator", "derive", "flop", "load", "loop", "recv", "region", "send", "store",
    "sub", "var",
]  # fmt: skip
