"""Forms of instructions, names of equal cost, and answers about forms that are asked once."""

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.models.incore import incore_cache
from autotune.models.incore.assembly.aarch64 import AArch64
from autotune.models.incore.assembly.instructions import Instruction, Isa
from autotune.models.incore.assembly.x86 import X86
from autotune.models.incore.osaca.equivalents import equivalents_of
from autotune.models.incore.osaca.instruction_forms import (
    InstructionForm,
    facts,
    form,
    whole,
)
from autotune.models.incore.osaca.osaca_architectures import ARCHITECTURES
from autotune.models.incore.osaca.osaca_client import OsacaWorker, OsacaWorkerFailed
from autotune.models.incore.osaca.osaca_pool import OsacaPool
from autotune.units import Seconds

ANSWER: dict[str, object] = {
    "uops": [[1.0, ["0", "1"]], [2.0, ["11"]]],
    "latency": 3,
    "load": 4.0,
    "reads": ["ymm0"],
    "writes": ["ymm1"],
    "taken_as": None,
    "known": True,
}


def x86(text: str) -> InstructionForm:
    return form(X86().parse(text), "x86_64")


def arm(text: str) -> InstructionForm:
    return form(AArch64(16).parse(text), "aarch64")


# --- forms ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vaddpd 32(%rsi,%rax), %ymm7, %ymm3", "vaddpd 8(%r8,%r9), %ymm0, %ymm1"),
        ("vaddpd\t-0x40(%rdi),  %ymm1, %ymm1", "vaddpd 8(%r8), %ymm0, %ymm0"),
        ("vmulsd %xmm2, %xmm5, %xmm2", "vmulsd %xmm0, %xmm1, %xmm0"),
        ("addq $8, %rax", "addq $8, %r8"),
        ("addl %ecx, %eax", "addl %r8d, %r9d"),
        ("leaq (%rcx,%rcx,2), %rax", "leaq (%r8,%r8,2), %r9"),
        ("addl %ecx, %r10d", "addl %r8d, %r9d"),
        ("movslq %r11d, %r11", "movslq %r8d, %r8"),
        ("vmovsd .LC7(%rip), %xmm3", "vmovsd .LC0(%rip), %xmm0"),
        ("vmovsd table+16(%rip), %xmm3", "vmovsd .LC0(%rip), %xmm0"),
        ("jne .L12", "jne .L0"),
        ("call exp@PLT", "call .L0"),
        ("vextractf128 $0x1, %ymm4, %xmm9", "vextractf128 $0x1, %ymm0, %xmm1"),
        ("vfmadd231pd (%r15,%rdx,8), %zmm31, %zmm30", "vfmadd231pd (%r8,%r9,8), %zmm0, %zmm1"),
    ],
)
def test_x86_forms_have_registers_and_offsets_by_their_order(text: str, expected: str) -> None:
    assert x86(text).text == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fadd v3.2d, v1.2d, v3.2d", "fadd v0.2d, v1.2d, v0.2d"),
        ("ldr q7, [x12, #48]", "ldr q0, [x0, #16]"),
        ("ldr d7, [x12, x3, lsl #3]", "ldr d0, [x0, x1, lsl #3]"),
        ("fmla z4.d, p1/m, z0.d, z9.d", "fmla z0.d, p0/m, z1.d, z2.d"),
        ("add w9, w9, #1", "add w0, w0, #1"),
        ("b.ne .L3", "b.ne .L0"),
        ("cbnz x4, .L3", "cbnz x4, .L0"),
        ("ld1 {v4.2d, v5.2d}, [x2]", "ld1 {v4.2d, v5.2d}, [x2]"),
    ],
)
def test_aarch64_forms_have_registers_and_offsets_by_their_order(text: str, expected: str) -> None:
    assert arm(text).text == expected


def test_registers_of_a_form_are_those_of_the_instruction() -> None:
    made = x86("vaddpd 32(%rsi,%rax), %ymm7, %ymm3")
    assert made.registers == {"v0": "v7", "v1": "v3", "r8": "rsi", "r9": "rax"}
    assert arm("fmla v4.2d, v9.2d, v4.2d").registers == {"v0": "v4", "v1": "v9"}
    assert arm("ldr q7, [x12, #48]").registers == {"v0": "v7", "x0": "x12"}
    assert x86("jne .L3").registers == {}


def test_a_wide_and_a_narrow_name_of_a_register_have_one_number() -> None:
    made = x86("vextractf128 $0x1, %ymm4, %xmm4")
    assert made.text == "vextractf128 $0x1, %ymm0, %xmm0"
    assert x86("movslq %ecx, %rcx").text == "movslq %r8d, %r8"


@settings(max_examples=40, derandomize=True)
@given(numbers=st.permutations(range(16)), offset=st.integers(-4096, 4096))
def test_renaming_registers_and_moving_offsets_keeps_the_form(
    numbers: list[int], offset: int
) -> None:
    a, b, c, *_ = numbers
    made = x86(f"vfmadd213pd {offset}(%rsi,%rdx,8), %ymm{a}, %ymm{b}")
    assert made.text == x86("vfmadd213pd 8(%rax,%rbx,8), %ymm1, %ymm2").text
    assert made.registers["v1"] == f"v{b}"
    assert arm(f"fmla v{a}.2d, v{b}.2d, v{c}.2d").text == "fmla v0.2d, v1.2d, v2.2d"


@pytest.mark.parametrize(
    ("register", "isa", "expected"),
    [
        *(("%eax", "x86_64", "rax"), ("%rax", "x86_64", "rax"), ("%r10d", "x86_64", "r10")),
        *(("%r9", "x86_64", "r9"), ("%xmm3", "x86_64", "v3"), ("%zmm31", "x86_64", "v31")),
        *(("rbp", "x86_64", "rbp"), ("w3", "aarch64", "x3"), ("x3", "aarch64", "x3")),
        *(("d7", "aarch64", "v7"), ("z7", "aarch64", "v7"), ("p1", "aarch64", "p1")),
        *(("sp", "aarch64", "sp"), ("xzr", "aarch64", "xzr")),
    ],
)
def test_parts_of_a_register_belong_to_it(register: str, isa: Isa, expected: str) -> None:
    assert whole(register, isa) == expected


# --- answers ----------------------------------------------------------------------------------


def test_an_answer_becomes_properties() -> None:
    made = facts(ANSWER | {"taken_as": "vaddpd", "known": False})
    assert made.uops == ((1.0, frozenset("01")), (2.0, frozenset({"11"})))
    assert (made.latency, made.load) == (3.0, 4.0)
    assert (made.reads, made.writes) == (("ymm0",), ("ymm1",))
    assert (made.taken_as, made.in_tables) == ("vaddpd", False)
    assert facts(ANSWER).taken_as is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"uops": None}, "an answer without ports or latency"),
        ({"latency": "3"}, "an answer without ports or latency"),
        ({"load": None}, "an answer without ports or latency"),
        ({"reads": None}, "an answer without reads"),
        ({"writes": 7}, "an answer without writes"),
    ],
)
def test_answers_with_something_missing_are_refused(
    change: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        facts(ANSWER | change)


# --- names of equal cost ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mnemonic", "isa", "names"),
    [
        ("vsubpd", "x86_64", ["vaddpd", "vmaxpd"]),
        ("subsd", "x86_64", ["addsd", "maxsd"]),
        ("vmaxpd", "x86_64", ["vaddpd"]),
        ("vfnmsub132sd", "x86_64", ["vfmadd132sd", "vfmadd231sd"]),
        ("vfmadd231pd", "x86_64", []),
        ("vxorpd", "x86_64", ["vandpd", "vandps", "vxorps"]),
        ("vucomisd", "x86_64", ["vcomisd", "vaddsd"]),
        ("vaddpd", "x86_64", []),
        ("fsub", "aarch64", ["fadd"]),
        ("fmls", "aarch64", ["fmla"]),
        ("fnmsub", "aarch64", ["fmadd", "fmla"]),
        ("subs", "aarch64", ["add", "sub"]),
        ("fsub", "x86_64", []),
    ],
)
def test_instructions_of_equal_cost_never_name_themselves(
    mnemonic: str, isa: Isa, names: list[str]
) -> None:
    assert equivalents_of(mnemonic, isa) == names


# --- the pool -----------------------------------------------------------------------------------


WORKER = """\
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    with open(sys.argv[1], "a") as log:
        log.write(json.dumps(request["forms"]) + "\\n")
    forms = [ANSWER for _ in request["forms"]][: len(request["forms"]) - SHORT]
    print(json.dumps({"id": request["id"], "ok": True, "forward": 1.5, "forms": forms}), flush=True)
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))


def pool(folder: Path, short: int = 0, answer: object = ANSWER) -> OsacaPool:
    """A pool with one worker that answers the same of every form, ``short`` answers too few."""
    script = folder / "worker.py"
    text = WORKER.replace("SHORT", str(short)).replace("ANSWER", repr(answer))
    script.write_text(text, encoding="utf-8")
    command = [sys.executable, str(script), str(folder / "log")]
    return OsacaPool([OsacaWorker(command, limit=Seconds(20))], ARCHITECTURES["ZEN3"])


def requests(folder: Path) -> list[list[list[object]]]:
    log = folder / "log"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def forms(*texts: str) -> list[tuple[InstructionForm, Instruction]]:
    return [(x86(text), X86().parse(text)) for text in texts]


def test_equal_forms_are_asked_once_with_their_names_of_equal_cost(tmp_path: Path) -> None:
    made = pool(tmp_path)
    try:
        known = made.facts(forms("vsubpd %ymm1, %ymm2, %ymm3", "vsubpd %ymm4, %ymm5, %ymm6"))
        made.facts(forms("vsubpd %ymm7, %ymm8, %ymm9"))
    finally:
        made.close()
    assert requests(tmp_path) == [[["vsubpd %ymm0, %ymm1, %ymm2", ["vaddpd", "vmaxpd"]]]]
    assert known["vsubpd %ymm0, %ymm1, %ymm2"] == facts(ANSWER)
    assert made.forward == 1.5


def test_what_a_table_lacks_comes_from_that_of_a_later_generation(tmp_path: Path) -> None:
    """OSACA's table of Zen 1 has no shuffles. Its units of 16 bytes take wider vectors twice."""
    made = OsacaPool([OsacaWorker()], ARCHITECTURES["ZEN1"])
    narrow, wide, moved, stored, own = (
        "vunpcklpd %xmm0, %xmm1, %xmm2", "vunpcklpd %ymm0, %ymm1, %ymm2",
        "vmovhpd 8(%r8), %xmm0, %xmm1", "vmovhpd %xmm0, 8(%r8)", "vaddpd %xmm0, %xmm1, %xmm2",
    )  # fmt: skip
    try:
        known = made.facts(forms(narrow, wide, moved, stored, own, "jne .L3"))
    finally:
        made.close()
    assert known[narrow].uops == ((1.0, frozenset("12")),)
    assert known[wide].uops == ((2.0, frozenset("12")),)
    assert {known[narrow].taken_as, known[wide].taken_as} == {"in ZEN2"}
    assert known[narrow].in_tables
    load = {(1.0, frozenset("89")), (1.0, frozenset({"8D", "9D"}))}
    assert load <= set(known[moved].uops) <= load | {(1.0, frozenset("12"))}
    store = {(1.0, frozenset("89")), (1.0, frozenset({"ST"}))}
    assert store <= set(known[stored].uops) <= store | {(1.0, frozenset("12"))}, "not Zen 3's ports"
    assert known[own].taken_as is None


def test_a_later_pool_reads_what_an_earlier_one_was_answered(tmp_path: Path) -> None:
    first = pool(tmp_path)
    first.facts(forms("vaddpd %ymm1, %ymm2, %ymm3"))
    first.close()
    second = OsacaPool([], ARCHITECTURES["ZEN3"])
    assert len(second.facts(forms("vaddpd %ymm1, %ymm2, %ymm3"))) == 1
    assert second.forward == 1.5
    other = pool(tmp_path)
    other.facts(forms("vaddpd %ymm1, %ymm2, %ymm3", "addq $1, %rax"))
    other.close()
    assert requests(tmp_path)[1:] == [[["addq $1, %r8", []]]]


def test_stored_answers_that_make_no_sense_are_asked_again(tmp_path: Path) -> None:
    text = "vaddpd %ymm0, %ymm1, %ymm2"
    incore_cache.keep_forms(ARCHITECTURES["ZEN3"], {text: {"uops": None}})
    made = pool(tmp_path)
    assert made.facts(forms("vaddpd %ymm0, %ymm1, %ymm2"))[text] == facts(ANSWER)
    made.close()
    assert len(requests(tmp_path)) == 1


def test_too_few_answers_are_no_answers(tmp_path: Path) -> None:
    made = pool(tmp_path, short=1)
    with pytest.raises(OsacaWorkerFailed, match="not one answer per form"):
        made.facts(forms("addq $1, %rax", "addq $2, %rax"))
    made.close()


@pytest.mark.parametrize("answer", [{"uops": []}, 7])
def test_an_answer_without_ports_is_none(tmp_path: Path, answer: object) -> None:
    made = pool(tmp_path, answer=answer)
    with pytest.raises(OsacaWorkerFailed, match="an answer without ports"):
        made.facts(forms("addq $1, %rax"))
    made.close()
