"""A process of its own that asks OSACA about loops: JSON lines in, JSON lines out.

    -> {"id": 7, "arch": "ZEN3", "text": "\\tvmovupd ...\\n", "alike": {"vmaxpd": ["vaddpd"]}}
    <- {"id": 7, "ok": true, "ports": [...], "uops": [[cycles, [port, ...]], ...],
        "chain": 4.0, "replaced": {"vmaxpd": "vaddpd"}, "unknown": ["..."], "unbound": ["..."]}
    <- {"id": 7, "ok": false, "error": "..."}

``uops`` is what the instructions of one pass put on the ports, ``chain`` the latency of the
longest loop-carried dependency in cycles, ``unknown`` the instructions that are not in OSACA's
tables, ``unbound`` those that are there without any port. An unknown instruction is looked up
under the names in ``alike``; ``replaced`` says where that helped.

Started by path with the process number of its parent. It imports nothing of the package, and the
package never imports it: OSACA is under the AGPL-3 and stays behind the pipe.
"""

import contextlib
import copy
import ctypes
import json
import os
import signal
import sys
import warnings
from functools import cache
from typing import TYPE_CHECKING

from osaca.parser import ParserAArch64, ParserX86ATT
from osaca.semantics import ArchSemantics, KernelDG, MachineModel

if TYPE_CHECKING:
    from osaca.parser import InstructionForm

_PR_SET_PDEATHSIG = 1
_UNKNOWN = "tp_unknown"


def die_with_parent(parent: int) -> None:
    """Ask the kernel to end this process when its parent ends (Linux)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the kernel was asked
        sys.exit(0)


@cache
def semantics(arch: str) -> ArchSemantics:
    """OSACA's semantics of one architecture; builds only the parser that it needs."""
    x86 = MachineModel.get_isa_for_arch(arch) == "x86"
    parser = ParserX86ATT() if x86 else ParserAArch64()
    return ArchSemantics(parser, MachineModel(arch=arch.lower()))


def analyse(arch: str, text: str, alike: dict[str, list[str]]) -> dict[str, object]:
    """Port use, loop-carried chain and gaps of one pass of a loop."""
    meaning = semantics(arch)
    model = meaning._machine_model
    kernel = [form for form in meaning.parser.parse_file(text) if form.mnemonic is not None]
    meaning.normalize_instruction_forms(kernel)
    meaning.add_semantics(kernel)
    uops: list[tuple[float, list[str]]] = []
    replaced: dict[str, str] = {}
    unknown, unbound = [], []
    for form in kernel:
        name = form.mnemonic
        if _UNKNOWN in form.flags:
            found = _look_up(form, meaning, alike.get(name, []))
            if found and found != name.rstrip("bwlq"):
                replaced[name] = found
        used = _uops(form, model)
        if _UNKNOWN in form.flags:
            unknown.append(form.line.strip())
        elif not used:
            unbound.append(form.line.strip())
        uops += used
    return {
        "ports": [str(port) for port in model.get_ports()],
        "uops": uops,
        "chain": _chain(kernel, meaning),
        "replaced": replaced,
        "unknown": unknown,
        "unbound": unbound,
    }


def _look_up(form: "InstructionForm", meaning: ArchSemantics, alike: list[str]) -> str | None:
    """Look an unknown instruction up under other names: without its AT&T suffix, or of its kind."""
    own: str = form.mnemonic
    suffixed = own[-1] in "bwlq" and meaning.parser.isa() == "x86"
    for name in [own[:-1], *alike] if suffixed else alike:
        form.mnemonic, form.flags = name, []
        meaning.assign_src_dst(form)
        meaning.assign_tp_lt(form)
        if _UNKNOWN not in form.flags:
            return name
    form.mnemonic, form.flags = own, []
    meaning.assign_src_dst(form)
    meaning.assign_tp_lt(form)
    return None


def _uops(form: "InstructionForm", model: MachineModel) -> list[tuple[float, list[str]]]:
    """Cycles and ports of an instruction; of several possible assignments, the shortest."""
    given = form.port_uops
    if isinstance(given, dict):
        given = min(given.values(), key=lambda uops: sum(u[0] for u in uops))
    given = [uop for uop in given if isinstance(uop, list)]  # a default entry may lack a level
    found = [(float(cycles), [str(p) for p in ports]) for cycles, ports in given if cycles]
    # some tables scale the cycles of loads and stores by the width of the register
    missing = sum(form.port_pressure) - sum(cycles for cycles, _ in found)
    data = {*model.get_data_ports(), "ST"}
    wide = sum(cycles for cycles, ports in found if data & set(ports))
    if missing < 0.01 or not wide:
        return found
    return [(c * (1 + missing / wide) if data & set(p) else c, p) for c, p in found]


def _chain(kernel: list["InstructionForm"], meaning: ArchSemantics) -> float:
    """Latency of the longest way from an instruction to itself in the next pass.

    OSACA's dependency graph over two passes goes forward only, so that lengths can be added up in
    the order of the lines, where listing all ways would take time exponential in their number.
    """
    offset = max(form.line_number for form in kernel) + 1000
    second = [copy.copy(form) for form in kernel]
    for form in second:
        form.line_number += offset
    graph = KernelDG.__new__(KernelDG)  # its constructor lists all ways
    super(KernelDG, graph).__init__()
    graph.parser, graph.model, graph.arch_sem = meaning.parser, meaning._machine_model, meaning
    follow = graph.create_DG([*kernel, *second]).adj
    order = sorted(follow)
    longest = 0.0
    for form in kernel:
        reach = {form.line_number: 0.0}
        for node in order:
            if node not in reach:
                continue
            for after, edge in follow[node].items():
                reach[after] = max(reach.get(after, 0.0), reach[node] + edge["latency"])
        longest = max(longest, reach.get(form.line_number + offset, 0.0))
    return longest


def answer(line: str) -> dict[str, object]:
    """The answer to one request; never raises."""
    identity: object = None
    try:
        request = json.loads(line)
        identity = request["id"]
        return {"id": identity, "ok": True} | analyse(
            request["arch"], request["text"], request.get("alike", {})
        )
    except Exception as fault:  # whatever goes wrong is the answer
        return {"id": identity, "ok": False, "error": f"{type(fault).__name__}: {fault}"}


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
