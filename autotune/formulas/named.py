"""Formulas by name, made of the constants that a user states.

    >>> print(make("smg2000-1d", {"alpha": 1e-6, "beta": 1e-9, "f": 1e-10}))
    T = 2 L_x alpha + 2 L_x beta + 6 nx f; L_x = log2(px nx); alpha = 1e-06 s, beta = 1e-09 s, \
f = 1e-10 s
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from autotune.errors import Fault, InputError, one_of, unknown_name
from autotune.formulas.base import Formula
from autotune.formulas.boomeramg import VERSIONS, BoomerAmg, Version
from autotune.formulas.fmm import Fmm
from autotune.formulas.smg2000 import Dimensions, Smg2000

Constants = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Named:
    """How a formula is made, of which constants."""

    required: tuple[str, ...]
    make: Callable[[Constants], Formula]


def make(name: str, constants: Constants) -> Formula:
    """The formula of this name; InputError for an unknown name, constant, or value.

    Every formula also takes ``scale``.
    """
    if name not in FORMULAS:
        raise InputError(unknown_name("formula", "formula", name, FORMULAS))
    found = FORMULAS[name]
    known = (*found.required, "scale")
    faults = [
        unknown_name(name, "constant", each, known) for each in constants if each not in known
    ]
    faults += [
        Fault(where=name, found=f"no {each}", expected=f"{one_of(found.required)}, all of them")
        for each in found.required
        if each not in constants
    ]
    if faults:
        raise InputError(*faults)
    try:
        return found.make(constants)
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
            scale=c.get("scale", 1.0),
        )  # fmt: skip

    return Named(("levels", "alpha", "beta"), made)


def _fmm(c: Constants) -> Formula:
    return Fmm(
        t_c=c["t_c"], beta=c["beta"], cache=c["cache"], line=c["line"], scale=c.get("scale", 1.0)
    )


FORMULAS: Mapping[str, Named] = {
    "smg2000-1d": _smg(1),
    "smg2000-2d": _smg(2),
    "smg2000-3d": _smg(3),
    **{f"boomeramg-{version}": _boomer(version) for version in VERSIONS},
    "fmm": Named(("t_c", "beta", "cache", "line"), _fmm),
}
"""Those that a few numbers determine; ``planes`` and ``ecm`` come from engines."""
