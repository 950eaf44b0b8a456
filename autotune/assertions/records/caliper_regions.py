"""Profiles of Caliper as records: regions that a program marks for Caliper, with their times.

Caliper (Boehme et al. 2016) writes ``.cali`` files; the package caliper-reader reads them. A
profile asserts nothing: its functions, loops and annotations become subroutines, loops and regions
of a record, and its visits and seconds theirs. What a profile was not told to keep is a loss.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autotune.domain.assertion_record import AssertionRecord, PathKind, PathRecord, RecordLoss
from autotune.errors import Fault, InputError, MissingTool
from autotune.files.parsing.faults import printable

INSTALL = "pip install caliper-reader (or: pip install -e '.[caliper]')"
VISITS = "visits of regions: the profile counts none, each region stands for one visit"
SECONDS = "seconds of regions: the profile has no times"

_KINDS: Mapping[str, PathKind] = {"function": "sub", "loop": "loop"}
_COUNTS = ("sum#sum#rc.count", "sum#rc.count", "rc.count", "sum#region.count", "region.count")
"""Attributes that count visits of regions (Caliper's option region.count)."""
_TIMES = (
    ("sum#time.duration.ns", 1e-9), ("time.duration.ns", 1e-9), ("sum#time.duration", 1e-6),
    ("time.duration", 1e-6),
)  # fmt: skip
"""Attributes of exclusive time, and their unit in seconds."""
_INCLUSIVE = (
    ("inclusive#sum#time.duration.ns", 1e-9), ("sum#time.inclusive.duration.ns", 1e-9),
    ("inclusive#sum#time.duration", 1e-6), ("sum#time.inclusive.duration", 1e-6),
)  # fmt: skip
_RANK = "mpi.rank"
_SIZE = "mpi.world.size"
_ITERATION = "iteration#"


@dataclass(slots=True)
class _Region:
    """A region of a rank as it is being read."""

    kind: PathKind
    visits: int = 0
    trips: int = 0
    """Iterations of a loop that the profile tells apart."""
    exclusive: float = 0.0
    inclusive: float | None = None


@dataclass(slots=True)
class _Profile:
    """The regions of a rank by path; parents before children."""

    regions: dict[tuple[str, ...], _Region] = field(default_factory=dict)
    counted: bool = False
    timed: bool = False


def read(path: Path) -> tuple[AssertionRecord, ...]:
    """The records of all ranks that a profile of Caliper holds.

    Raises MissingTool where caliper-reader is not installed, InputError for a file that it cannot
    read and for a profile without regions.
    """
    rows, about = _contents(path)
    profiles: defaultdict[int, _Profile] = defaultdict(_Profile)
    for row in rows:
        names = row.get("path")
        if isinstance(names, list) and names:
            rank = _whole(row.get(_RANK), path) if _RANK in row else 0
            _add(profiles[rank], row, tuple(map(str, names)), path)
    if not profiles:
        raise InputError(
            Fault(
                where=str(path),
                found="no regions in this profile",
                expected="a profile of marked regions, such as CALI_CONFIG=runtime-profile writes",
            )
        )
    ranks = max(_whole(about.get(_SIZE, "1"), path), max(profiles) + 1)
    return tuple(
        _record(path, rank, ranks, profile, about) for rank, profile in sorted(profiles.items())
    )


def _contents(path: Path) -> tuple[Sequence[Mapping[str, object]], Mapping[str, object]]:
    try:
        import caliperreader  # noqa: PLC0415 - optional
        from caliperreader.readererror import ReaderError  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingTool(
            Fault(
                where=str(path),
                found="profiles of Caliper are read by caliper-reader, which is not installed",
                hint=INSTALL,
            )
        ) from error
    try:
        rows, about = caliperreader.read_caliper_contents(str(path))
    except (ReaderError, ValueError, KeyError, IndexError, AttributeError, TypeError,
            StopIteration, RuntimeError) as error:  # fmt: skip
        raise InputError(
            Fault(
                where=str(path),
                found=printable(f"not a profile of Caliper, or cut off: {error!r}"),
                expected="a .cali file",
            )
        ) from error
    except OSError as error:
        raise InputError(
            Fault(where=str(path), found=f"cannot be read: {error.strerror or error}")
        ) from error
    return rows, about


def _add(profile: _Profile, row: Mapping[str, object], names: tuple[str, ...], path: Path) -> None:
    """Add a row of a profile to the region that it is about, and enter those around it."""
    for length in range(1, len(names) + 1):
        inner = names[:length]
        if inner not in profile.regions:
            profile.regions[inner] = _Region(_kind(row, inner[-1]))
    region = profile.regions[names]
    for name in _COUNTS:
        if name in row:
            region.visits += _whole(row[name], path)
            profile.counted = True
            break
    if any(name.startswith(_ITERATION) for name in row) and region.kind == "loop":
        region.trips += 1
    for name, unit in _TIMES:
        if name in row:
            region.exclusive += unit * _number(row[name], path)
            profile.timed = True
            break
    for name, unit in _INCLUSIVE:
        if name in row:
            region.inclusive = (region.inclusive or 0.0) + unit * _number(row[name], path)
            profile.timed = True
            break


def _kind(row: Mapping[str, object], name: str) -> PathKind:
    """Whether a name is that of a function, of a loop, or another annotation."""
    for attribute, kind in _KINDS.items():
        values = row.get(attribute)
        if name == values or (isinstance(values, list) and name in values):
            return kind
    return "region"


def _record(
    path: Path, rank: int, ranks: int, profile: _Profile, about: Mapping[str, object]
) -> AssertionRecord:
    paths = tuple(_paths(profile))
    losses = [*([] if profile.counted else [VISITS]), *([] if profile.timed else [SECONDS])]
    return AssertionRecord(
        run=path.stem,
        rank=rank,
        ranks=ranks,
        program=str(about.get("cali.caliper.executable", about.get("executable", path.stem))),
        host=str(about.get("hostname", about.get("cluster", ""))),
        started=path.stat().st_mtime,
        seconds=sum(item.seconds for item in paths if item.parent == -1),
        complete=True,
        variables=(),
        paths=paths,
        calls=(),
        losses=tuple(RecordLoss(what, 1) for what in losses),
    )


def _paths(profile: _Profile) -> Iterator[PathRecord]:
    ids = {names: number for number, names in enumerate(profile.regions)}
    seconds = {
        names: region.exclusive if region.inclusive is None else region.inclusive
        for names, region in profile.regions.items()
    }
    for names in reversed(profile.regions):  # inner ones come after those around them
        if len(names) > 1 and profile.regions[names[:-1]].inclusive is None:
            seconds[names[:-1]] += seconds[names]
    for names, region in profile.regions.items():
        trips = region.kind == "loop" and region.trips > 0
        yield PathRecord(
            id=ids[names],
            parent=ids[names[:-1]] if len(names) > 1 else -1,
            kind=region.kind,
            name=names[-1],
            visits=region.visits if profile.counted else 1,
            asserted=0,
            measured=region.trips if trips else None,
            counter="caliper" if trips else "",
            passes=0,
            failures=0,
            seconds=seconds[names],
        )


def _whole(text: object, path: Path) -> int:
    return round(_number(text, path))


def _number(text: object, path: Path) -> float:
    """The number that an attribute holds; InputError for another text."""
    try:
        value = float(str(text))
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e300:
        words = printable(f"the value {text!r}")
        raise InputError(
            Fault(where=str(path), found=words, expected="a number that is not below 0")
        )
    return value
