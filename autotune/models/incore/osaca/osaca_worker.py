"""A process of its own that asks OSACA about instructions: JSON lines in, JSON lines out.

    -> {"id": 7, "arch": "ZEN3", "forms": [["vmaxpd %ymm0, %ymm1, %ymm1", ["vaddpd"]], ...]}
    <- {"id": 7, "ok": true, "ports": ["0", ...], "forward": 0.0, "forms": [
        {"uops": [[cycles, [port, ...]], ...], "latency": 3.0, "load": 0.0, "known": true,
        "reads": ["ymm0", "ymm1"], "writes": ["ymm1"], "taken_as": "vaddpd"}, ...]}
    <- {"id": 7, "ok": false, "error": "..."}

A form is an instruction and the names under which it is looked up where OSACA does not know its
own. ``uops`` is what it puts on the ports, ``latency`` the cycles from its register operands to its
result, ``load`` those that a load in it takes before, ``reads`` and ``writes`` its registers (those
of addresses left out), ``known`` whether it is in OSACA's tables, ``forward`` the cycles that they
give to store forwarding beyond the load (null: no figure).

Started by path with the process number of its parent. It imports nothing of the package, and the
package never imports it: OSACA is under the AGPL-3 and stays behind the pipe.
"""

import contextlib
import ctypes
import gc
import json
import os
import signal
import sys
import warnings
from functools import cache
from typing import TYPE_CHECKING

gc.disable()  # until all is loaded: it stays

from osaca.parser import ParserAArch64, ParserX86ATT  # noqa: E402
from osaca.parser.register import RegisterOperand  # noqa: E402
from osaca.semantics import ArchSemantics, MachineModel  # noqa: E402

if TYPE_CHECKING:
    from osaca.parser import InstructionForm

_PR_SET_PDEATHSIG = 1
_UNKNOWN = "tp_unknown"
_LOADS = "performs_load"
_ONLY_LOADS = "is_load_instruction"
_ROUNDED = 1e-3
"""Cycles by which sums of shares of a cycle may differ."""


def die_with_parent(parent: int) -> None:
    """Ask the kernel to end this process when its parent ends (Linux)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the kernel was asked
        sys.exit(0)


@cache
def semantics(arch: str) -> ArchSemantics:
    """OSACA's semantics of one architecture; builds only the parser that it needs."""
    gc.disable()
    try:
        x86 = MachineModel.get_isa_for_arch(arch) == "x86"
        parser = ParserX86ATT() if x86 else ParserAArch64()
        return ArchSemantics(parser, MachineModel(arch=arch.lower()))
    finally:
        gc.freeze()
        gc.enable()


def described(arch: str, text: str, equivalents: list[str]) -> dict[str, object]:
    """OSACA's properties of one instruction, as data for the answer."""
    meaning = semantics(arch)
    (form,) = meaning.parser.parse_file(f"\t{text}\n")
    if form.mnemonic is None:
        raise ValueError(f"no instruction: {text}")
    meaning.normalize_instruction_forms([form])
    meaning.add_semantics([form])
    name = None
    if _UNKNOWN in form.flags:
        name = _look_up(form, meaning, equivalents)
    latency, whole = (float(value or 0.0) for value in (form.latency_wo_load, form.latency))
    if _ONLY_LOADS in form.flags:
        latency, load = 0.0, whole
    else:
        load = whole - latency if _LOADS in form.flags else 0.0
    roles = form.semantic_operands
    return {
        "uops": _uops(form, meaning._machine_model),
        "latency": latency,
        "load": load,
        "reads": _registers([*roles["source"], *roles["src_dst"]]),
        "writes": _registers([*roles["destination"], *roles["src_dst"]]),
        "taken_as": name,
        "known": _UNKNOWN not in form.flags,
    }


def _registers(operands: list[object]) -> list[str]:
    names = {f"{o.prefix or ''}{o.name}" for o in operands if isinstance(o, RegisterOperand)}
    return sorted(names)


def _look_up(form: "InstructionForm", meaning: ArchSemantics, equivalents: list[str]) -> str | None:
    """Look an unknown instruction up without its AT&T suffix, or as an instruction of equal cost.

    Returns the name under which it was found. None where its own name without a suffix was found,
    or nothing.
    """
    mnemonic: str = form.mnemonic
    suffixed = mnemonic[-1] in "bwlq" and meaning.parser.isa() == "x86"
    for name in [mnemonic[:-1], *equivalents] if suffixed else equivalents:
        form.mnemonic, form.flags = name, []
        meaning.assign_src_dst(form)
        meaning.assign_tp_lt(form)
        if _UNKNOWN not in form.flags:
            return None if name == mnemonic[:-1] else name
    form.mnemonic, form.flags = mnemonic, []
    meaning.assign_src_dst(form)
    meaning.assign_tp_lt(form)
    return None


def _uops(form: "InstructionForm", model: MachineModel) -> list[tuple[float, list[str]]]:
    """The cycles and ports of an instruction; of several possible assignments, the shortest."""
    port_uops = form.port_uops
    if isinstance(port_uops, dict):
        port_uops = min(port_uops.values(), key=lambda uops: sum(u[0] for u in uops))
    port_uops = [
        uop for uop in port_uops if isinstance(uop, list)
    ]  # a default entry may lack a level
    listed = [(float(cycles), [str(p) for p in ports]) for cycles, ports in port_uops if cycles]
    # some tables scale loads and stores, address and data, by the width of the register
    names = [str(port) for port in model.get_ports()]
    given = dict.fromkeys(names, 0.0)
    for cycles, ports in listed:
        for port in ports:
            given[port] += cycles / len(ports)
    used = dict(zip(names, form.port_pressure, strict=True))
    return [
        (cycles * sum(used[p] for p in ports) / sum(given[p] for p in ports), ports)
        if all(used[p] > given[p] + _ROUNDED for p in ports)
        else (cycles, ports)
        for cycles, ports in listed
    ]


def answer(line: str) -> dict[str, object]:
    """The answer to one request; never raises."""
    identity: object = None
    try:
        request = json.loads(line)
        identity, arch = request["id"], request["arch"]
        model = semantics(arch)._machine_model
        forward = model.get("store_to_load_forward_latency")
        ports = [str(port) for port in model.get_ports()]
        forms = [_safely(arch, text, equivalents) for text, equivalents in request["forms"]]
    except Exception as fault:  # whatever goes wrong is the answer
        return {"id": identity, "ok": False, "error": f"{type(fault).__name__}: {fault}"}
    return {"id": identity, "ok": True, "ports": ports, "forward": forward, "forms": forms}


def _safely(arch: str, text: str, equivalents: list[str]) -> dict[str, object]:
    """The properties of a form; a form on which OSACA fails counts as unknown, with the reason."""
    try:
        return described(arch, text, equivalents)
    except Exception as fault:  # one odd instruction must not take the others with it
        nothing: dict[str, object] = {"uops": [], "latency": 0.0, "load": 0.0}
        lists: dict[str, object] = {"reads": [], "writes": [], "taken_as": None}
        return nothing | lists | {"known": False, "error": f"{type(fault).__name__}: {fault}"}


def main(parent: int) -> None:
    """Answer requests until standard input ends."""
    die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    warnings.simplefilter("ignore")
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as replies:
        os.dup2(2, 1)  # what OSACA prints must not come between the answers
        for line in sys.stdin:
            replies.write(json.dumps(answer(line)) + "\n")
            replies.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]))
