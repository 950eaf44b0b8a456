"""Networks from YAML: the section ``network:`` of a machine file, or a file of its own.

A file of its own (schema autotune.network/1) holds the same keys at its top.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from autotune.domain.network import OPERATIONS, CostCurve, Network, Operation, Segment
from autotune.files.config.fields import Bandwidth, Model, Read, Text, Time, quantity
from autotune.files.config.session import Session
from autotune.files.config.validation import validate
from autotune.files.config.yaml_document import Document, Keys, describe
from autotune.units import Bytes, Dimension, Seconds
from autotune.units import exact as exactly
from autotune.units import parse as parse_quantity

SCHEMA = "autotune.network/1"

Tree = str | int | float | bool | list["Tree"] | dict[str, "Tree"]


def _size(value: object) -> int:
    result = quantity("size", zero=True)(value)
    if result != int(result):
        raise ValueError(f"{value!r} is not a whole number of bytes")
    return int(result)


def _signed(value: object) -> float:
    """A time that may be below zero: where a line meets 0 B."""
    if not isinstance(value, str):
        raise ValueError(f"{describe(value)} has no unit of time")
    return parse_quantity(value, "time")


Length = Annotated[Bytes, Read(_size, "0 B")]
Intercept = Annotated[Seconds, Read(_signed, "0 s")]


_STEPS: dict[Dimension, tuple[tuple[str, float], ...]] = {
    "time": (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)),
    "bandwidth": (("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3), ("B/s", 1.0)),
}


def readable(value: float, dimension: Dimension) -> str:
    """A quantity with a readable prefix and six digits at most: what curves are rounded to.

    >>> readable(2.30356e-07, "time")
    '230.356 ns'
    """
    unit, factor = next(
        ((unit, factor) for unit, factor in _STEPS[dimension] if abs(value) >= factor),
        _STEPS[dimension][-1],
    )
    return f"{value / factor:.6g} {unit}"


def _exactly(value: float, dimension: Dimension) -> str:
    text = readable(value, dimension)
    return text if parse_quantity(text, dimension) == value else exactly(value, dimension)


class _Segment(Model):
    lower: Length = Field(alias="from")
    latency: Intercept
    bandwidth: Bandwidth | None = None


class _Point(Model):
    size: Length
    time: Time


class _Curve(Model):
    operation: Literal["barrier", "allgather", "neighbour", "sparse", "pingpong"]
    benchmark: Text
    nodes: int = Field(ge=1)
    ranks: int = Field(ge=1)
    measured: list[Length] = Field(min_length=2, max_length=2)
    segments: list[_Segment] = Field(min_length=1)
    residual: list[float] = Field(default=[1.0, 1.0], min_length=2, max_length=2)
    points: list[_Point] = Field(default=[])
    source: str = ""
    fitted_to: list[Text] = Field(default=[])


class NetworkModel(Model):
    """The keys of a network."""

    title: str = ""
    curves: list[_Curve]


def read_network(session: Session, path: Path) -> Network | None:
    """The network of a file, or None and faults."""
    known = len(session.faults)
    document = session.open(path, SCHEMA)
    model = validate(session, document, NetworkModel) if document else None
    network = build_network(session, document, model, ()) if document and model else None
    return network if len(session.faults) == known else None


def build_network(
    session: Session, document: Document, model: NetworkModel, under: Keys
) -> Network | None:
    """The network that a model states, or None and faults; ``under``: where it is."""
    known = len(session.faults)
    curves: list[CostCurve] = []
    places: dict[tuple[Operation, int, int], str] = {}
    for i, stated in enumerate(model.curves):
        place = (*under, "curves", i)
        curve = _curve(session, document, stated, place)
        if curve is None:
            continue
        where = document.place(place)
        if curve.key in places:
            session.add(
                where,
                f"a second curve for {curve.operation} of {curve.ranks} ranks on"
                f" {curve.nodes} nodes",
                f"one (first at {places[curve.key]})",
            )
            continue
        places[curve.key] = where
        curves.append(curve)
    if len(session.faults) > known:
        return None
    return Network(title=model.title, curves=tuple(curves))


def _curve(session: Session, document: Document, stated: _Curve, place: Keys) -> CostCurve | None:
    segments: list[Segment] = []
    for j, part in enumerate(stated.segments):
        try:
            segments.append(
                Segment(lower=part.lower, latency=part.latency, bandwidth=part.bandwidth)
            )
        except ValueError as error:
            session.add(document.place((*place, "segments", j)), str(error))
    if len(segments) < len(stated.segments):
        return None
    try:
        return CostCurve(
            operation=stated.operation,
            benchmark=stated.benchmark,
            nodes=stated.nodes,
            ranks=stated.ranks,
            segments=tuple(segments),
            measured=(stated.measured[0], stated.measured[1]),
            residual=(stated.residual[0], stated.residual[1]),
            points=tuple((point.size, point.time) for point in stated.points),
            source=stated.source,
            fitted_to=tuple(stated.fitted_to),
        )
    except ValueError as error:
        session.add(document.place(place), f"{stated.operation}: {error}")
        return None


def network_tree(network: Network) -> dict[str, Tree]:
    """A network as the plain values of its keys; every number reads back as it was."""
    order = sorted(network.curves, key=lambda c: (OPERATIONS.index(c.operation), c.nodes, c.ranks))
    tree: dict[str, Tree] = {"title": network.title} if network.title else {}
    return tree | {"curves": [_curve_tree(curve) for curve in order]}


def _curve_tree(curve: CostCurve) -> Tree:
    tree: dict[str, Tree] = {
        "operation": curve.operation,
        "benchmark": curve.benchmark,
        "nodes": curve.nodes,
        "ranks": curve.ranks,
        "measured": [exactly(size, "size") for size in curve.measured],
        "segments": [_segment_tree(segment) for segment in curve.segments],
        "residual": list(curve.residual),
    }
    if curve.source:
        tree["source"] = curve.source
    if curve.fitted_to:
        tree["fitted_to"] = list(curve.fitted_to)
    if curve.points:
        tree["points"] = [
            {"size": exactly(size, "size"), "time": _exactly(seconds, "time")}
            for size, seconds in curve.points
        ]
    return tree


def _segment_tree(segment: Segment) -> Tree:
    tree: dict[str, Tree] = {
        "from": exactly(segment.lower, "size"),
        "latency": _exactly(segment.latency, "time"),
    }
    if segment.bandwidth is not None:
        tree["bandwidth"] = _exactly(segment.bandwidth, "bandwidth")
    return tree
