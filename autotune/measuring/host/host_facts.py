"""The facts of a host as procfs and sysfs state them, without conclusions.

Every file except /proc/cpuinfo may be missing or unreadable. The root folder is a parameter, so
that recorded hosts can be read as well.
"""

import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autotune.errors import Fault, InputError
from autotune.units import Bytes, Hertz


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheFacts:
    """One data or unified cache of the first usable CPU, as sysfs shows it; None where a figure is
    not shown.
    """

    level: int
    size: Bytes | None
    ways: int | None
    line: int | None
    shared: tuple[int, ...]
    """CPUs that share it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """The facts of one host."""

    architecture: str
    """``x86_64``, ``aarch64``, ``ppc64`` or another name that the kernel uses."""
    info: Mapping[str, str]
    """/proc/cpuinfo of the first usable CPU, keys in lower case."""
    flags: frozenset[str]
    cpus: tuple[int, ...]
    """CPUs that this process may use."""
    cpu_limit: float | None
    """CPU time per second that the control group grants; None: no limit."""
    siblings: tuple[tuple[int, ...], ...]
    """The hardware threads of each core, for all CPUs seen."""
    packages: Mapping[int, int]
    nodes: tuple[tuple[int, ...], ...]
    """CPUs of each NUMA node."""
    caches: tuple[CacheFacts, ...]
    clock: Hertz | None
    clock_source: str
    memory: Bytes | None
    """Installed, or what a control group grants; None where the host does not say."""

    @property
    def guest(self) -> bool:
        """Whether the host is a virtual machine, whose caches and clock may not be real."""
        return "hypervisor" in self.flags

    def number(self, key: str) -> int | None:
        """An integer field of /proc/cpuinfo, decimal or hexadecimal; None where it is missing."""
        try:
            return int(self.info.get(key, ""), 0)
        except ValueError:
            return None


def gather(root: Path = Path("/")) -> HostFacts:
    """Read the facts of the host below ``root``. Raises InputError without /proc/cpuinfo."""
    cpuinfo = root / "proc/cpuinfo"
    blocks = list(_blocks(_required(cpuinfo)))
    by_cpu = {int(b["processor"]): b for b in blocks if b.get("processor", "").isdigit()}
    shared = blocks[-1] if blocks and "processor" not in blocks[-1] else {}
    devices = root / "sys/devices/system"
    online = _cpu_list(_read(devices / "cpu/online")) or tuple(sorted(by_cpu)) or (0,)
    cpus = _allowed(root) or online
    first = shared | by_cpu.get(cpus[0], blocks[0] if blocks else {})
    all_cpus = sorted({*online, *cpus})
    records = [first, *(by_cpu[cpu] for cpu in cpus if cpu in by_cpu)]
    clock, clock_source = _clock(devices / f"cpu/cpu{cpus[0]}", records)
    return HostFacts(
        architecture=_architecture(first, root),
        info=first,
        flags=frozenset((first.get("flags") or first.get("features") or "").split()),
        cpus=cpus,
        cpu_limit=_cpu_limit(root),
        siblings=_siblings(devices, all_cpus, by_cpu),
        packages={cpu: _package(devices, cpu, by_cpu) for cpu in all_cpus},
        nodes=_nodes(devices),
        caches=tuple(_caches(devices / f"cpu/cpu{cpus[0]}/cache")),
        clock=clock,
        clock_source=clock_source,
        memory=installed_memory(root),
    )


def installed_memory(root: Path = Path("/")) -> Bytes | None:
    """The memory in bytes that the system or a control group ever gives to all processes."""
    match = re.search(r"^MemTotal:\s*(\d+) kB", _read(root / "proc/meminfo"), re.MULTILINE)
    amounts = [int(match[1]) * 1024] if match else []
    for folder in _groups(root, "memory"):
        limits = (_read(folder / name) for name in ("memory.max", "memory.limit_in_bytes"))
        amounts += [int(limit) for limit in limits if limit.isdigit() and int(limit) > 0]
    return Bytes(min(amounts)) if amounts else None


def available_memory(root: Path = Path("/")) -> Bytes | None:
    """The memory in bytes that can be used without swapping; limits of control groups count."""
    match = re.search(r"^MemAvailable:\s*(\d+) kB", _read(root / "proc/meminfo"), re.MULTILINE)
    amounts = [int(match[1]) * 1024] if match else []
    for folder in _groups(root, "memory"):
        for limit, used in (
            ("memory.max", "memory.current"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        ):
            texts = (_read(folder / limit), _read(folder / used))
            if all(text.isdigit() for text in texts):
                amounts.append(max(0, int(texts[0]) - int(texts[1])))
    return Bytes(min(amounts)) if amounts else None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _required(path: Path) -> str:
    text = _read(path)
    if not text:
        fault = Fault(
            where=str(path),
            found="cannot be read or is empty",
            expected="the processor information of a Linux host",
            hint="mount /proc, or write a machine file by hand",
        )
        raise InputError(fault)
    return text


def _blocks(text: str) -> Iterator[dict[str, str]]:
    for block in re.split(r"\n\s*\n", text):
        pairs = (line.partition(":") for line in block.splitlines() if ":" in line)
        fields = {key.strip().lower(): value.strip() for key, _, value in pairs}
        if fields:
            yield fields


def _cpu_list(text: str) -> tuple[int, ...]:
    """The CPU numbers of a list such as ``0-3,8``."""
    cpus: set[int] = set()
    for low, high in re.findall(r"(\d+)(?:-(\d+))?", text):
        cpus.update(range(int(low), int(high or low) + 1))
    return tuple(sorted(cpus))


def _allowed(root: Path) -> tuple[int, ...]:
    match = re.search(r"^Cpus_allowed_list:\s*(\S+)", _read(root / "proc/self/status"), re.M)
    return _cpu_list(match[1]) if match else ()


def _architecture(info: Mapping[str, str], root: Path) -> str:
    if "vendor_id" in info and "flags" in info:
        return "x86_64"
    if "cpu implementer" in info:
        return "aarch64"
    if info.get("cpu", "").startswith("POWER"):
        return "ppc64"
    return platform.machine() if root == Path("/") else "unknown"


def _siblings(
    devices: Path, cpus: list[int], by_cpu: Mapping[int, Mapping[str, str]]
) -> tuple[tuple[int, ...], ...]:
    groups: dict[object, set[int]] = {}
    for cpu in cpus:
        topology = devices / f"cpu/cpu{cpu}/topology"
        listed = _cpu_list(
            _read(topology / "core_cpus_list") or _read(topology / "thread_siblings_list")
        )
        info = by_cpu.get(cpu, {})
        key: object = listed
        if not listed:
            core = (info.get("physical id"), info.get("core id"))
            key = core if None not in core else cpu
        groups.setdefault(key, set()).add(cpu)
    return tuple(sorted(tuple(sorted(group)) for group in groups.values()))


def _package(devices: Path, cpu: int, by_cpu: Mapping[int, Mapping[str, str]]) -> int:
    text = _read(devices / f"cpu/cpu{cpu}/topology/physical_package_id")
    text = text or by_cpu.get(cpu, {}).get("physical id", "")
    return int(text) if text.isdigit() else 0


def _nodes(devices: Path) -> tuple[tuple[int, ...], ...]:
    folders = (devices / "node").glob("node[0-9]*")
    lists = (_cpu_list(_read(folder / "cpulist")) for folder in folders)
    return tuple(sorted(cpus for cpus in lists if cpus))


def _caches(folder: Path) -> Iterator[CacheFacts]:
    def positive(path: Path) -> int | None:
        text = _read(path)
        return int(text) if text.isdigit() and int(text) > 0 else None

    for index in sorted(folder.glob("index[0-9]*")):
        level = positive(index / "level")
        if level is None or _read(index / "type") == "Instruction":
            continue
        line, sets = positive(index / "coherency_line_size"), positive(index / "number_of_sets")
        ways, size = positive(index / "ways_of_associativity"), _size(_read(index / "size"))
        if ways is None and size and line and sets:
            ways = size // (sets * line) or None
        yield CacheFacts(
            level=level,
            size=size,
            ways=ways,
            line=line,
            shared=_cpu_list(_read(index / "shared_cpu_list")),
        )


def _size(text: str) -> Bytes | None:
    match = re.fullmatch(r"(\d+)\s*([KMG]?)B?", text)
    if not match or int(match[1]) == 0:
        return None
    return Bytes(int(match[1]) * 1024 ** " KMG".index(match[2] or " "))


def _clock(cpu: Path, records: Sequence[Mapping[str, str]]) -> tuple[Hertz | None, str]:
    """The clock that the host reports and where: of what the CPUs run at now, the highest, as
    others may be idle.
    """
    text = _read(cpu / "cpufreq/cpuinfo_max_freq")
    if text.isdigit() and int(text) > 0:
        return Hertz(int(text) * 1e3), "cpufreq, highest"
    if match := re.search(r"@\s*([\d.]+)\s*GHz", records[0].get("model name", "")):
        return Hertz(float(match[1]) * 1e9), "model name, nominal"
    for key in ("cpu mhz", "clock"):
        numbers = (re.match(r"([\d.]+)", record.get(key, "")) for record in records)
        highest = max((float(match[1]) for match in numbers if match), default=0.0)
        if highest > 0:
            return Hertz(highest * 1e6), f"/proc/cpuinfo, {key!r}"
    return None, "not reported"


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """Folders of the control groups of this process, innermost first."""
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and controller not in controllers.split(","):
            continue
        mounts = [root / "sys/fs/cgroup"]
        if controllers:
            mounts = [mounts[0] / controllers, mounts[0] / controller]
        for mount in mounts:
            group = mount / path.lstrip("/")
            yield group
            while group != mount and mount in group.parents:
                group = group.parent
                yield group


def _cpu_limit(root: Path) -> float | None:
    limits: list[float] = []
    for folder in _groups(root, "cpu"):
        quota, _, period = _read(folder / "cpu.max").partition(" ")
        if not quota:
            quota = _read(folder / "cpu.cfs_quota_us")
            period = _read(folder / "cpu.cfs_period_us")
        if quota.isdigit() and period.isdigit() and int(period) > 0:
            limits.append(int(quota) / int(period))
    return min(limits) if limits else None
