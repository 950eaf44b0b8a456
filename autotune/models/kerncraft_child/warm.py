# mypy: disable-error-code="import-untyped"
"""Loads kerncraft and OSACA once, and speeds them up without changing any result.

* OSACA's grammar of Intel syntax is never built: it refuses what compilers emit by default, and
  kerncraft reads marked assembly by the other grammar in any case;
* the longest loop-carried dependency is found in the order of the lines; OSACA lists all paths,
  exponential in their number, and after ten seconds continues with those it has found;
* OSACA's formatted report is not made; its tables are written to its cache in one step.
"""

import contextlib
import copy
import hashlib
import pickle
import tempfile
from functools import cache
from pathlib import Path

from kerncraft import incore_model
from kerncraft.machinemodel import MachineModel
from osaca import osaca
from osaca.parser import BaseParser, InstructionForm
from osaca.semantics import KernelDG
from osaca.semantics import MachineModel as PortModel

from autotune.models.kerncraft_child.kernel_subject import MODEL, refuse_objects

_get_parser = incore_model.get_parser
_read_tables = PortModel._get_cached


class _NoReport:
    """Stands in for OSACA's formatted report, which is not needed here."""

    def __init__(self, *_: object, **__: object) -> None: ...

    def full_analysis(self, *_: object, **__: object) -> str:
        return ""


@cache
def _parser(isa: str) -> BaseParser:
    return _get_parser(isa, syntax="ATT")


def _only_att(isa: str, syntax: str = "ATT") -> BaseParser:
    if isa.lower() == "x86" and syntax.upper() != "ATT":
        raise ValueError("assembly in Intel syntax is not read")
    return _parser(isa)


def _longest_chain(
    graph: KernelDG, kernel: list[InstructionForm], *_: object, **__: object
) -> dict[str, dict[str, float]]:
    """The longest path from an instruction to itself in the next pass, in OSACA's format."""
    offset = max(1000, *(form.line_number for form in kernel))
    second = [copy.copy(form) for form in kernel]
    for form in second:
        form.line_number += offset
    follow = graph.create_DG([*kernel, *second], False).adj
    order = sorted(follow)
    longest = None
    for form in kernel:
        reach = {form.line_number: 0.0}
        for node in order:
            if node not in reach:
                continue
            for after, edge in follow[node].items():
                reach[after] = max(reach.get(after, 0.0), reach[node] + edge["latency"])
        end = reach.get(form.line_number + offset)
        if end is not None:
            longest = max(longest or 0.0, end)
    return {} if longest is None else {"longest": {"latency": longest}}


_tables: dict[str, object] = {}
"""OSACA's tables by path, unpickled once instead of five times per kernel."""


def _stored_tables(model: PortModel, path: str) -> object:
    """OSACA's stored tables; False where there are none or they cannot be read."""
    if path not in _tables:
        try:
            tables = _read_tables(model, path)
        except Exception:  # half-written by another program, or of another version
            return False
        if not tables:
            return False
        _tables[path] = tables
    return _tables[path]


def _keep_tables(model: PortModel, path: str) -> None:
    """Write OSACA's tables to the place where OSACA looks for them, in one step."""
    _tables[path] = model._data
    source, folder = Path(path), Path.home() / ".osaca" / "cache"
    name = f"{source.stem}_{hashlib.sha256(source.read_bytes()).hexdigest()}.pickle"
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("wb", dir=folder, delete=False) as file:
            pickle.dump(model._data, file)
        Path(file.name).replace(folder / name)


def prepare(place: str) -> None:
    """Load everything that kernels share. A failure is not raised here: every kernel will report it
    again.
    """
    incore_model.get_parser = _only_att
    incore_model.detect_x86_syntax = lambda _code: "ATT"
    KernelDG.check_for_loopcarried_dep = _longest_chain
    osaca.Frontend = _NoReport
    PortModel._get_cached, PortModel._write_in_cache = _stored_tables, _keep_tables
    with contextlib.suppress(Exception, SystemExit):
        refuse_objects(place)
        machine = MachineModel(place)
        x86 = machine["isa"].lower() == "x86"
        _only_att(machine["isa"])
        for arch in ("csx" if x86 else "a64fx", machine["in-core model"][MODEL]):
            osaca.MachineModel(arch=arch)
        osaca.get_asm_parser(machine["in-core model"][MODEL])
