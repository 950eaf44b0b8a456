"""Machines and calibrations to YAML that reads back as the same values."""

from collections.abc import Mapping
from dataclasses import asdict

import yaml

from autotune.domain.calibration import Calibration
from autotune.domain.machine import UNVERIFIED, InCore, Machine, Overlap, Streaming
from autotune.domain.network import Network
from autotune.files.config import calibrations, networks
from autotune.files.config.machine_schema import SCHEMA
from autotune.files.config.networks import Tree
from autotune.files.config.yaml_document import scalar
from autotune.units import exact


def dump_machine(machine: Machine) -> str:
    """A machine file; each number with its source where there is one."""
    tree: dict[str, Tree] = {
        "schema": SCHEMA,
        "name": machine.name,
        "title": machine.title,
        "architecture": machine.architecture,
        "clock": exact(machine.clock, "frequency"),
        "cores": machine.cores,
        "threads_per_core": machine.threads_per_core,
        "sockets": machine.sockets,
        "caches": _caches(machine),
        "memory": _memory(machine),
        "in_core": _in_core(machine.in_core),
    }
    if machine.overlap != Overlap():
        tree["overlap"] = _overlap(machine.overlap)
    if machine.compilers:
        tree["compilers"] = dict(machine.compilers)
    if machine.barrier is not None:
        tree["barrier"] = exact(machine.barrier, "time")
    tree = {name: _sourced(value, name, machine) for name, value in tree.items()}
    if machine.network is not None:
        tree["network"] = networks.network_tree(machine.network)
    if machine.calibration is not None:
        tree["calibration"] = _calibration(machine.calibration)
    if machine.kerncraft is not None:
        tree["kerncraft"] = machine.kerncraft
    return _text(tree)


def dump_calibration(calibration: Calibration) -> str:
    """A calibration file."""
    return _text({"schema": calibrations.SCHEMA, **_calibration(calibration)})


def dump_network(network: Network) -> str:
    """A network file."""
    return _text({"schema": networks.SCHEMA, **networks.network_tree(network)})


def _caches(machine: Machine) -> list[Tree]:
    levels: list[Tree] = []
    for cache in machine.caches:
        level: dict[str, Tree] = {
            "name": cache.name,
            "size": exact(cache.size, "size"),
            "line": exact(cache.line, "size"),
            "ways": cache.ways,
            "sets": cache.sets,
            "cores": cache.cores,
        }
        for way, throughput in (("inbound", cache.inbound), ("outbound", cache.outbound)):
            if throughput is not None:
                level[way] = exact(throughput, "throughput")
        if cache.duplex is not None:
            level["duplex"] = cache.duplex
        for name in ("write_allocate", "write_back", "victim", "exposed"):
            level[name] = getattr(cache, name)
        levels.append(level)
    return levels


def _memory(machine: Machine) -> dict[str, Tree]:
    memory = machine.memory
    tree: dict[str, Tree] = {}
    for name, bandwidth in (
        ("saturated", memory.saturated),
        ("single", memory.single),
        ("outbound", memory.outbound),
        ("peak", memory.peak),
    ):
        if bandwidth is not None:
            tree[name] = exact(bandwidth, "bandwidth")
    if memory.duplex is not None:
        tree["duplex"] = memory.duplex
    for name, cycles in (
        ("penalty_load", memory.penalty_load),
        ("penalty_store", memory.penalty_store),
    ):
        if cycles is not None:
            tree[name] = exact(cycles, "cycles")
    if memory.benchmarks:
        tree["benchmarks"] = {name: _streaming(found) for name, found in memory.benchmarks.items()}
    return tree | {"cores": memory.cores, "exposed": memory.exposed}


def _streaming(found: Streaming) -> dict[str, Tree]:
    tree: dict[str, Tree] = {"saturated": exact(found.saturated, "bandwidth")}
    if found.single is not None:
        tree["single"] = exact(found.single, "bandwidth")
    return tree


def _overlap(overlap: Overlap) -> dict[str, Tree]:
    tree: dict[str, Tree] = {"rule": overlap.rule}
    if overlap.store_path is not None:
        tree["store_path"] = {
            "throughput": exact(overlap.store_path.throughput, "throughput"),
            "cores": overlap.store_path.cores,
        }
    return tree


def _in_core(in_core: InCore) -> dict[str, Tree]:
    tree: dict[str, Tree] = {}
    if in_core.osaca is not None:
        tree["osaca"] = in_core.osaca
    tree["approximate"] = in_core.approximate
    if in_core.overlapping:
        tree["overlapping"] = list(in_core.overlapping)
    if in_core.non_overlapping:
        tree["non_overlapping"] = list(in_core.non_overlapping)
    if in_core.ports is not None:
        ports: dict[str, Tree] = {
            name: getattr(in_core.ports, name) for name in in_core.ports.__dataclass_fields__
        }
        ports["vector"] = exact(in_core.ports.vector, "size")
        for name in ("divide", "latency"):
            ports[name] = exact(getattr(in_core.ports, name), "cycles")
        ports["shared"] = list(in_core.ports.shared)
        tree["ports"] = ports
    return tree


def _calibration(calibration: Calibration) -> dict[str, Tree]:
    tree: dict[str, Tree] = {
        "identity": calibration.identity,
        "taken": calibration.taken,
        "seconds": exact(calibration.seconds, "time"),
        "clock": exact(calibration.clock, "frequency"),
        "clock_spread": calibration.clock_spread,
        "curves": [
            {
                "threads": curve.threads,
                "streams": curve.streams,
                "points": [
                    {
                        "size": exact(size, "size"),
                        "bandwidth": exact(bandwidth, "throughput"),
                        "spread": spread,
                    }
                    for size, bandwidth, spread in zip(
                        curve.working_set, curve.bandwidth, curve.spread, strict=True
                    )
                ],
            }
            for curve in calibration.curves
        ],
        "barriers": {str(n): exact(t, "time") for n, t in calibration.barriers.items()},
        "exposed": dict(calibration.exposed),
        "contended": calibration.contended,
        "priority": calibration.priority,
        "compiler": calibration.compiler,
    }
    return tree | _figures(calibration)


def _figures(calibration: Calibration) -> dict[str, Tree]:
    """Constants and what studies made of them; nothing where there are none."""
    tree: dict[str, Tree] = {}
    if calibration.constants:
        tree["constants"] = {name: asdict(c) for name, c in calibration.constants.items()}
    if calibration.refined:
        tree["refined"] = {name: asdict(r) for name, r in calibration.refined.items()}
    return tree


def _sourced(value: Tree, key: str, machine: Machine) -> Tree:
    """The value, and the values inside it, with their sources beside them."""
    source = machine.sources.get(key)
    if isinstance(value, list) and key == "caches":
        names = [cache.name for cache in machine.caches]
        return [
            _sourced(item, f"{key}.{name}", machine)
            for item, name in zip(value, names, strict=True)
        ]
    if isinstance(value, dict):
        return {name: _sourced(item, f"{key}.{name}", machine) for name, item in value.items()}
    return value if source is None else _with_source(value, source)


def _with_source(value: Tree, source: str) -> dict[str, Tree]:
    bare = source.removesuffix(UNVERIFIED)
    tree: dict[str, Tree] = {"value": value}
    if bare == source:
        return tree | {"source": source}
    if bare.strip():
        tree["source"] = bare.strip()
    return tree | {"unverified": True}


class _Dumper(yaml.SafeDumper):
    """Quotes text that would read back as something else."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002
        return True


def _represent_text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = None if scalar(value) == value and value.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _represent_flat(dumper: yaml.SafeDumper, value: Mapping[str, Tree]) -> yaml.MappingNode:
    flat = 0 < len(value) <= 4 and not any(isinstance(v, dict | list) for v in value.values())
    return dumper.represent_mapping("tag:yaml.org,2002:map", value.items(), flow_style=flat)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(dict, _represent_flat)


def _text(tree: dict[str, Tree]) -> str:
    return yaml.dump(tree, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
