"""Calibrations from YAML (schema autotune.calibration/1); also a section of a machine file."""

from pathlib import Path

from pydantic import Field

from autotune.domain.calibration import BandwidthCurve, Calibration, Constant, Refined
from autotune.files.config.fields import Frequency, Model, Size, Text, Throughput, Time
from autotune.files.config.session import Session
from autotune.files.config.validation import validate
from autotune.files.config.yaml_document import Document, Keys
from autotune.units import Seconds

SCHEMA = "autotune.calibration/1"


class _Point(Model):
    size: Size
    bandwidth: Throughput
    spread: float = Field(ge=0)


class _Curve(Model):
    threads: int = Field(ge=1)
    streams: int = Field(default=1, ge=1)
    points: list[_Point] = Field(min_length=1)


class _Constant(Model):
    value: float
    low: float
    high: float
    unit: Text
    source: str
    samples: int


class _Refined(Model):
    before: float
    after: float
    low: float
    high: float
    study: str
    taken: str = ""
    before_low: float = 0.0
    before_high: float = 0.0


class CalibrationModel(Model):
    """The keys of a calibration."""

    identity: Text
    taken: Text
    seconds: Time
    clock: Frequency
    clock_spread: float = Field(ge=0)
    curves: list[_Curve]
    barriers: dict[str, Time]
    exposed: dict[str, float]
    contended: bool
    priority: str
    compiler: str
    constants: dict[str, _Constant] = Field(default_factory=dict)
    refined: dict[str, _Refined] = Field(default_factory=dict)


def read_calibration(session: Session, path: Path) -> Calibration | None:
    """The calibration of a file, or None and faults."""
    known = len(session.faults)
    document = session.open(path, SCHEMA)
    model = validate(session, document, CalibrationModel) if document else None
    calibration = build_calibration(session, document, model, ()) if document and model else None
    return calibration if len(session.faults) == known else None


def build_calibration(
    session: Session, document: Document, model: CalibrationModel, under: Keys
) -> Calibration | None:
    """The calibration that a model states, or None and faults; ``under``: where it is."""
    known = len(session.faults)
    curves = []
    for i, curve in enumerate(model.curves):
        try:
            curves.append(
                BandwidthCurve(
                    threads=curve.threads,
                    streams=curve.streams,
                    working_set=tuple(point.size for point in curve.points),
                    bandwidth=tuple(point.bandwidth for point in curve.points),
                    spread=tuple(point.spread for point in curve.points),
                )
            )
        except ValueError as error:
            session.add(document.place((*under, "curves", i)), str(error))
    barriers: dict[int, Seconds] = {}
    for threads, seconds in model.barriers.items():
        if threads.isascii() and threads.isdigit() and int(threads) >= 1:
            barriers[int(threads)] = seconds
        else:
            where = document.key((*under, "barriers", threads))
            session.add(where, f"{threads!r} is not a number of threads", "at least 1")
    for level, share in model.exposed.items():
        if not 0 <= share <= 1:
            where = document.place((*under, "exposed", level))
            session.add(where, f"{level}: the exposed share is {share}", "a share from 0 to 1")
    constants: dict[str, Constant] = {}
    refined: dict[str, Refined] = {}
    try:
        for name, constant in model.constants.items():
            key = "constants", name
            constants[name] = Constant(**dict(constant))
        for name, change in model.refined.items():
            key = "refined", name
            refined[name] = Refined(**dict(change))
    except ValueError as error:
        session.add(document.place((*under, *key)), str(error))
    if len(session.faults) > known:
        return None
    return Calibration(
        identity=model.identity,
        taken=model.taken,
        seconds=model.seconds,
        clock=model.clock,
        clock_spread=model.clock_spread,
        curves=tuple(curves),
        barriers=barriers,
        exposed=model.exposed,
        contended=model.contended,
        priority=model.priority,
        compiler=model.compiler,
        constants=constants,
        refined=refined,
    )
