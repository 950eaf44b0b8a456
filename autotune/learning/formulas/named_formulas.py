"""Formulas by name, built from constants that the user states.

    >>> print(make("smg2000-1d", {"alpha": 1e-6, "beta": 1e-9, "f": 1e-10}))
    T = 2 L_x alpha + 2 L_x beta + 6 nx f; L_x = log2(px nx); alpha = 1e-06 s, beta = 1e-09 s, \
f = 1e-10 s; with one process alpha and beta are 0
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from autotune.errors import Fault, InputError, unknown_name
from autotune.learning.formulas.base import Formula
from autotune.learning.formulas.boomeramg import (
    VERSIONS,
    Bandwidth,
    BoomerAmg,
    Distance,
    Multicore,
    Version,
)
from autotune.learning.formulas.fmm import Fmm
from autotune.learning.formulas.planes_formula import Planes
from autotune.learning.formulas.smg2000 import Dimensions, Smg2000

Constants = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Named:
    """How to build a named formula: its builder, the required and the optional constants."""

    required: tuple[str, ...]
    make: Callable[[Constants], Formula]
    optional: tuple[str, ...] = ()


def make(name: str, constants: Constants) -> Formula:
    """The formula of this name; InputError for an unknown name, constant, or value.

    Every formula also takes ``scale``.
    """
    if name not in FORMULAS:
        raise InputError(unknown_name("formula", "formula", name, FORMULAS))
    maker = FORMULAS[name]
    allowed = (*maker.required, *maker.optional, "scale")
    faults = [
        unknown_name(name, "constant", constant, allowed)
        for constant in constants
        if constant not in allowed
    ]
    faults += [
        Fault(where=name, found=f"no {constant}", expected=f"all of {', '.join(maker.required)}")
        for constant in maker.required
        if constant not in constants
    ]
    if faults:
        raise InputError(*faults)
    try:
        return maker.make(constants)
    except ValueError as error:
        raise InputError(Fault(where=name, found=str(error))) from error


def _smg(dimensions: Dimensions) -> Named:
    def made(c: Constants) -> Formula:
        return Smg2000(
            dimensions=dimensions, alpha=c["alpha"], beta=c["beta"], f=c["f"],
            scale=c.get("scale", 1.0),
        )  # fmt: skip

    return Named(("alpha", "beta", "f"), made)


def _boomer(version: Version) -> Named:
    def made(c: Constants) -> Formula:
        if not float(c["levels"]).is_integer():
            raise ValueError(f"levels are a whole number, not {c['levels']}")
        return BoomerAmg(
            levels=int(c["levels"]), alpha=c["alpha"], beta=c["beta"], version=version,
            distance=_distance(c), bandwidth=_bandwidth(c), multicore=_multicore(c),
            scale=c.get("scale", 1.0),
        )  # fmt: skip

    return Named(("levels", "alpha", "beta"), made, _PENALTIES)


def _distance(c: Constants) -> Distance | None:
    if "gamma" not in c:
        _refuse(c, "gamma", "fewest_hops")
        return None
    return Distance(gamma=c["gamma"], fewest=c.get("fewest_hops", 1.0))


def _bandwidth(c: Constants) -> Bandwidth | None:
    if not {"peak_bandwidth", "bandwidth"} <= set(c):
        both = "peak_bandwidth and bandwidth"
        _refuse(c, both, "peak_bandwidth", "bandwidth", "links")
        return None
    links = int(c["links"]) if "links" in c else None
    return Bandwidth(peak=c["peak_bandwidth"], measured=c["bandwidth"], links=links)


def _multicore(c: Constants) -> Multicore | None:
    if "cores" not in c:
        _refuse(c, "cores", "distance_by_cores")
        return None
    return Multicore(cores=int(c["cores"]), distance=bool(c.get("distance_by_cores")))


def _refuse(c: Constants, needed: str, *given: str) -> None:
    """Raise ValueError for a constant that has no meaning because ``needed`` is missing."""
    lone = [name for name in given if name in c]
    if lone:
        raise ValueError(f"{', '.join(lone)} without {needed}")


def _fmm(c: Constants) -> Formula:
    return Fmm(
        t_c=c["t_c"], beta=c["beta"], cache=c["cache"], line=c["line"], scale=c.get("scale", 1.0)
    )


def _planes(c: Constants) -> Formula:
    levels = 1
    while f"cache_{levels + 1}" in c or f"cost_{levels + 1}" in c:
        levels += 1
    numbers = range(1, levels + 1)
    missing = [n for i in numbers for n in (f"cache_{i}", f"cost_{i}") if n not in c]
    if missing:
        raise ValueError(f"no {', '.join(missing)}: each level has both")
    return Planes(
        order=int(c["order"]),
        elements_per_line=int(c["elements_per_line"]),
        caches=tuple(c[f"cache_{i}"] for i in numbers),
        write_allocate=(bool(c.get("write_allocate", 1.0)),) * levels,
        costs=(*(c[f"cost_{i}"] for i in numbers), c["cost_memory"]),
        scale=c.get("scale", 1.0),
    )


_PENALTIES = (
    "gamma", "fewest_hops", "peak_bandwidth", "bandwidth", "links", "cores", "distance_by_cores",
)  # fmt: skip
FORMULAS: Mapping[str, Named] = {
    "smg2000-1d": _smg(1),
    "smg2000-2d": _smg(2),
    "smg2000-3d": _smg(3),
    **{f"boomeramg-{version}": _boomer(version) for version in VERSIONS},
    "fmm": Named(("t_c", "beta", "cache", "line"), _fmm),
    "planes": Named(
        ("order", "elements_per_line", "cache_1", "cost_1", "cost_memory"),
        _planes,
        ("cache_2", "cost_2", "cache_3", "cost_3", "cache_4", "cost_4", "write_allocate"),
    ),
}
"""Those that a few numbers determine: seconds, elements, bytes per second; ``ecm`` comes from an
engine (``predict --formula``)."""
