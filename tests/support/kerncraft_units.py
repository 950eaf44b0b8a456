"""The checks of kerncraft's child process, run in a process of their own like it.

    python kerncraft_units.py    reads cases as JSON, prints the answers as JSON

A case is ``{"kernel": C, "isa": "x86" | "aarch64", "block": ASSEMBLY, "increment": BYTES}`` and its
answer the reason of the refusal or null; or ``{"polynomial": TEXT, "symbols": [...]}`` and its
answer the terms or the reason.
"""

import json
import sys
import warnings

warnings.simplefilter("ignore")

import sympy  # noqa: E402
from kerncraft.kernel import KernelCode, symbol_pos_int  # noqa: E402
from kerncraft.pycparser_utils import clean_code  # noqa: E402
from osaca.parser import ParserAArch64, ParserX86ATT  # noqa: E402
from osaca.semantics import ISASemantics  # noqa: E402

from autotune.models.kerncraft_child.iteration_units import check_units  # noqa: E402
from autotune.models.kerncraft_child.kernel_subject import KernelRefused  # noqa: E402
from autotune.models.kerncraft_child.layer_conditions import polynomial  # noqa: E402

PARSERS = {"x86": ParserX86ATT(), "aarch64": ParserAArch64()}
MEANINGS = {isa: ISASemantics(parser) for isa, parser in PARSERS.items()}


def units(case: dict[str, object]) -> str | None:
    kernel = KernelCode(clean_code(str(case["kernel"])), machine=None, filename="kernel.c")
    isa = str(case["isa"])
    forms = PARSERS[isa].parse_file(str(case["block"]))
    for form in forms:
        form.normalized = True
        MEANINGS[isa].assign_src_dst(form)
    check_units(kernel, forms, int(str(case["increment"])))
    return None


def terms(case: dict[str, object]) -> object:
    names = list(case["symbols"])  # type: ignore[call-overload]
    symbols = [symbol_pos_int(name) for name in names]
    known = dict(zip(names, symbols, strict=True))
    return polynomial(sympy.sympify(str(case["polynomial"]), locals=known), symbols)


def answer(case: dict[str, object]) -> object:
    try:
        return terms(case) if "polynomial" in case else units(case)
    except KernelRefused as refusal:
        return str(refusal)


if __name__ == "__main__":
    json.dump([answer(case) for case in json.load(sys.stdin)], sys.stdout)
