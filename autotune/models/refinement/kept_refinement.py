"""Refined calibrations: records a refinement in a calibration, and undoes it."""

from dataclasses import replace

from autotune.domain.calibration import Calibration, Refined
from autotune.domain.machine import Machine
from autotune.models.refinement.refinement_posterior import Refinement
from autotune.models.refinement.shifting_constants import (
    BARRIER,
    EXPOSED,
    INBOUND,
    moved,
    shiftable_constants,
)


def with_refinement(refinement: Refinement, calibration: Calibration, taken: str) -> Calibration:
    """The refined calibration, with a record of what changed and why."""
    refined = dict(calibration.refined)
    for change in refinement.changes:
        if not change.informed:
            continue
        name = change.figure.name
        earlier = refined.get(name)
        value, low, high = change.after
        first = (
            (earlier.before, earlier.before_low, earlier.before_high) if earlier else change.before
        )
        refined[name] = Refined(
            before=first[0],
            before_low=first[1],
            before_high=first[2],
            after=value,
            low=min(low, value),
            high=max(high, value),
            study=f"{earlier.study}, {refinement.study}" if earlier else refinement.study,
            taken=taken,
        )
    return replace(refinement.calibration, refined=refined)


def without_refinement(machine: Machine) -> Calibration:
    """The calibration of a machine as measured, before any refinement."""
    calibration = machine.calibration
    assert calibration is not None
    shiftables = shiftable_constants(machine)
    shifts = []
    for figure in shiftables:
        change = calibration.refined.get(figure.name)
        shiftable = figure.name.startswith((INBOUND, BARRIER, EXPOSED))
        shifts.append(figure.shift(change.before) if change and shiftable else 0.0)
    plain = moved(calibration, shiftables, shifts)
    constants = dict(plain.constants)
    for name, change in calibration.refined.items():
        if name in constants:
            constants[name] = replace(
                constants[name],
                value=change.before,
                low=min(change.before_low, change.before),
                high=max(change.before_high, change.before),
            )
    return replace(plain, constants=constants, refined={})
