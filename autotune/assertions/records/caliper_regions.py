"""Profiles of Caliper as records: regions that a program marks for Caliper, with their times.

Caliper (Boehme et al. 2016) writes ``.cali`` files; the package caliper-reader reads them. A
profile asserts nothing: its functions, loops and annotations become subroutines, loops and regions
of a record, and its visits and seconds theirs. What a profile was not told to keep is a loss.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autotune.domain.assertion_record import (
    AssertionRecord,
    NamedVariable,
    PathKind,
    PathRecord,
    RecordLoss,
    VariableRecord,
)
from autotune.errors import Fault, InputError, MissingTool
from autotune.files.parsing.faults import printable

INSTALL = "pip install caliper-reader (or: pip install -e '.[caliper]')"
VISITS = "visits of regions: the profile counts none, each region stands for one visit"
SECONDS = "seconds of regions: the profile has no times"
CUT = "the end of the profile, with the facts of the run: it may be cut off"
RANKS = "peers and ranks: the profile holds means over all ranks"

_KINDS: Mapping[str, PathKind] = {"function": "sub", "loop": "loop"}
_COUNTS = ("avg#sum#rc.count", "sum#rc.count", "rc.count", "count")
"""Attributes that count visits of a region (Caliper's option region.count)."""
_EXCLUSIVE = ("avg#sum#time.duration", "sum#time.duration", "time.duration")
_INCLUSIVE = ("avg#inclusive#sum#time.duration", "inclusive#sum#time.duration")
"""Attributes of the time of a region, without and with that of inner ones; also with ``.ns``."""
_UNITS = {"sec": 1.0, "s": 1.0, "msec": 1e-3, "usec": 1e-6, "us": 1e-6, "nsec": 1e-9, "ns": 1e-9}
_RANK = "mpi.rank"
_SIZE = "mpi.world.size"
_ITERATION = "iteration#"
_NAME = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?")


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
    ranked: bool = False
    """Its rows are of one rank, not means over all."""


def read(path: Path) -> tuple[AssertionRecord, ...]:
    """The records of all ranks that a profile of Caliper holds.

    Raises MissingTool where caliper-reader is not installed, InputError for a file that it cannot
    read and for a profile without regions.
    """
    rows, about, units = _contents(path)
    profiles: defaultdict[int, _Profile] = defaultdict(_Profile)
    for row in rows:
        names = row.get("path")
        if isinstance(names, list) and names:
            rank = _whole(row.get(_RANK), path) if _RANK in row else 0
            _add(profiles[rank], _Row(row, units, path), tuple(map(str, names)))
    if not profiles:
        raise InputError(
            Fault(
                where=str(path),
                found="no regions in this profile",
                expected="a profile of marked regions, such as CALI_CONFIG=runtime-profile writes",
            )
        )
    ranked = any(_RANK in row for row in rows)
    size = _whole(about.get(_SIZE, "1"), path) if ranked else 1
    ranks = max(size, max(profiles) + 1)
    return tuple(
        _record(path, (rank, ranks), profile, about) for rank, profile in sorted(profiles.items())
    )


_Contents = tuple[Sequence[Mapping[str, object]], Mapping[str, object], Mapping[str, float]]
"""Rows, facts of the run, and the unit in seconds of every attribute that has one."""


def _contents(path: Path) -> _Contents:
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
        reader = caliperreader.CaliperReader()
        reader.read(str(path))
        units = {
            str(name): _UNITS[str(attribute.get("attribute.unit"))]
            for name, attribute in reader.db.attributes.items()
            if str(attribute.get("attribute.unit")) in _UNITS
        }
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
    return reader.records, reader.globals, units


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a profile: the attributes of one region."""

    values: Mapping[str, object]
    units: Mapping[str, float]
    path: Path

    def count(self, names: Sequence[str]) -> float | None:
        """The first of these attributes that the row has; None: it has none."""
        name = next((name for name in names if name in self.values), None)
        return None if name is None else _number(self.values[name], self.path)

    def seconds(self, names: Sequence[str]) -> float | None:
        """The same in seconds: an attribute says its unit; ``.ns`` are nanoseconds."""
        for name, usual in [(n + end, unit) for n in names for end, unit in _ENDINGS]:
            if name in self.values:
                return self.units.get(name, usual) * _number(self.values[name], self.path)
        return None


_ENDINGS = (("", 1.0), (".ns", 1e-9))


def _add(profile: _Profile, row: _Row, names: tuple[str, ...]) -> None:
    """Add a row of a profile to the region that it is about, and enter those around it."""
    for length in range(1, len(names) + 1):
        inner = names[:length]
        if inner not in profile.regions:
            profile.regions[inner] = _Region(_kind(row.values, inner[-1]))
    region = profile.regions[names]
    visits, inclusive = row.count(_COUNTS), row.seconds(_INCLUSIVE)
    exclusive = row.seconds(_EXCLUSIVE)
    region.visits += round(visits or 0)
    region.exclusive += exclusive or 0.0
    if inclusive is not None:
        region.inclusive = (region.inclusive or 0.0) + inclusive
    if any(name.startswith(_ITERATION) for name in row.values) and region.kind == "loop":
        region.trips += 1
    profile.counted |= visits is not None
    profile.timed |= inclusive is not None or exclusive is not None
    profile.ranked |= _RANK in row.values


def _kind(row: Mapping[str, object], name: str) -> PathKind:
    """Whether a name is that of a function, of a loop, or another annotation."""
    for attribute, kind in _KINDS.items():
        values = row.get(attribute)
        if name == values or (isinstance(values, list) and name in values):
            return kind
    return "region"


def _record(
    path: Path, rank: tuple[int, int], profile: _Profile, about: Mapping[str, object]
) -> AssertionRecord:
    """The record of a rank, which is given with the number of ranks."""
    paths = tuple(_paths(profile))
    several = _whole(about.get(_SIZE, "1"), path) > 1 and not profile.ranked
    losses = [
        *([] if profile.counted else [VISITS]),
        *([] if profile.timed else [SECONDS]),
        *([RANKS] if several else []),
        *([] if about else [CUT]),
    ]
    return AssertionRecord(
        run=path.stem,
        rank=rank[0],
        ranks=rank[1],
        program=Path(str(about.get("executablepath", path.stem))).name,
        host=str(about.get("hostname", about.get("cluster", ""))),
        started=path.stat().st_mtime,
        seconds=sum(item.seconds for item in paths if item.parent == -1),
        complete=True,
        variables=tuple(_variables(about)),
        paths=paths,
        calls=(),
        losses=tuple(RecordLoss(what, 1) for what in losses),
    )


def _variables(about: Mapping[str, object]) -> Iterator[VariableRecord]:
    """The numbers that the program told Adiak or Caliper of its run, such as problem sizes."""
    for name, value in about.items():
        text = str(value)
        if _NAME.fullmatch(name) and _NUMBER.fullmatch(text):
            number = int(text) if text.lstrip("+-").isdigit() else float(text)
            yield VariableRecord(
                variable=NamedVariable(name=name), first=number, last=number, changes=0
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
