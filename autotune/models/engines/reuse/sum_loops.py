"""In-core results of sweeps with sums over an index or reads through index arrays."""

from dataclasses import replace

from autotune.models.incore.base import InCoreResult, RemainderLoop
from autotune.models.traffic.sweep_shape import SweepShape
from autotune.units import Cycles

_ORDER = "which lines they are in is not looked at"
_NEAR, _FAR = 0.8, 12.0
"""Relative standard deviation of loops with reads through index arrays, where a private cache holds
the rows and where it does not: the loads of lines in any order wait, up to several times as long as
those of lines in a row. Such indices into 8 and 32 MB took 3 to 4 times as long (Zen 4)."""
_SEVERAL = 0.1
"""Added to the relative half-width where the loop of one sum stands for those of several."""


def per_component(result: InCoreResult, shape: SweepShape, private: float) -> InCoreResult:
    """The result with its times per component, where its hot loop passes over terms of a sum; reads
    through index arrays are gathers, even where the compiler loads them one by one. ``private``:
    bytes of the largest cache of a core alone.

    A compiler that writes out a short sum leaves the loop over components as the hot one, which
    stores: its result is per component already. Otherwise the loop runs for the terms of every sum
    of a component, and the instructions around it run once a component.
    """
    if shape.gathers:
        notes = (*result.notes, f"{shape.gathers} elements read through index arrays: {_ORDER}")
        gathers = max(result.gathers, float(shape.gathers))
        lost = shape.scattered > private
        width = max(result.width, _FAR if lost else _NEAR)
        result = replace(result, gathers=gathers, notes=notes, width=width, approximate=True)
    if not shape.terms or result.stores:
        return result
    once = shape.terms / shape.sums
    overlapping, moving = _over(result, once)
    T_OL = Cycles(shape.sums * overlapping + float(result.entry))
    T_nOL = Cycles(shape.sums * moving)
    several = shape.sums > 1
    return replace(
        result,
        T_OL=T_OL,
        T_nOL=T_nOL,
        chain=Cycles(shape.terms * result.chain),
        crowded=None if result.crowded is None else Cycles(shape.terms * result.crowded),
        iterations=1.0,
        loads=shape.terms * result.loads,
        window=(shape.terms * result.window[0], result.window[1]),
        crossing=shape.terms * result.crossing,
        crossings=tuple(shape.terms * crossing for crossing in result.crossings),
        gathers=shape.terms * result.gathers,
        calls=shape.terms * result.calls,
        width=result.width + _SEVERAL * several,
        approximate=result.approximate or several,
        notes=(*result.notes, _note(shape)),
        remainder=Cycles(0.0),
        ladder=(RemainderLoop(iterations=1.0, T_OL=T_OL, T_nOL=T_nOL),),
        entry=Cycles(0.0),
    )


def _over(result: InCoreResult, terms: float) -> tuple[float, float]:
    """T_OL and T_nOL of so many terms: the hot loop, then the loops that take its remainder."""
    overlapping = moving = 0.0
    left = terms
    for rung in result.ladder:
        covered = left // rung.iterations * rung.iterations
        overlapping += covered * rung.T_OL
        moving += covered * rung.T_nOL
        left -= covered
    return overlapping + left * result.T_OL, moving + left * result.T_nOL


def _note(shape: SweepShape) -> str:
    sums = "a sum" if shape.sums == 1 else f"{shape.sums} sums"
    count = f"{shape.terms / shape.sums:g}"
    return f"the compiled loop passes over terms: each component has {sums} of {count} terms"
