"""Options of gcc that optimise, and their values, as the compiler itself lists them.

``gcc -Q --help=optimizers`` prints every option with its state at the base flags: of one that is on
the form that switches it off is worth a trial, of one that is off the form that switches it on.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autotune.domain.parameter_domain import flag_name
from autotune.domain.variant import Build
from autotune.errors import Fault, InputError
from autotune.toolchain import child_process
from autotune.toolchain import compiler as compilers
from autotune.toolchain.compiler import Compiler

_LIMIT = 60.0
_LINE = re.compile(r"^\s+(-f[\w+-]+)(=\S*)?\s*(.*?)\s*$")
_FOREIGN = "[available in"
"""State of an option of other languages."""
_NUMBERS = (1, 4, 16)
"""Values of an option that takes any number."""
_ALIGNMENTS = (8, 32, 64)
"""Values of an option that aligns code, in bytes."""
_MORE = (
    ("-flto",),
    ("-finline-limit=50", "-finline-limit=200", "-finline-limit=1000", "-finline-limit=5000"),
    ("-mprefer-vector-width=128", "-mprefer-vector-width=256", "-mprefer-vector-width=512"),
)
"""Options that optimise and that gcc lists elsewhere; gcc refuses those that it does not have."""

_RULES = (
    (
        "results may change",
        r"fast-math|unsafe-math|associative-math|reciprocal-math|finite-math|signed-zeros"
        r"|cx-(limited|fortran)|fp-contract|excess-precision|float-store|single-precision"
        r"|fp-int-builtin|rounding-math|signaling-nans|finite-loops",
    ),
    (
        "what data or calls mean may change",
        r"pack-struct|short-(enums|wchar)|reg-struct|wrapv|trapv|strict-enums|strict-volatile"
        r"|data-races|unconstrained-commons|rtti|keep-gc-roots|load-dangerous",
    ),
    ("starts threads", r"parallelize"),
    ("needs a profile", r"profile|branch-probabilities|-f(no-)?vpt"),
    (
        "checks, instruments or debugs",
        r"sanitize|stack-(check|protector|clash)|harden|patchable|live-patching|var-tracking"
        r"|opt-info|optimization-record|auto-var-init|printf-return|exceptions|unwind-tables",
    ),
)
"""Why options are left out without a trial, by what is in their names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedOptions:
    """Options of a compiler: the spellings of each that are worth a trial, and those left out."""

    spellings: tuple[tuple[str, ...], ...]
    left_out: Mapping[str, tuple[str, ...]]
    """Reason to spellings."""


def gcc_of(name: str, base: Sequence[str]) -> Compiler:
    """A compiler of the GNU collection by the name of its program.

    InputError for another compiler or for base flags that it refuses, MissingTool where it is not
    installed.
    """
    compiler = compilers.find(Build(compiler=name, flags=tuple(base)), "--flags")
    if compiler.name != "gcc":
        raise InputError(
            Fault(
                where="--flags",
                found=f"{name} ({compiler.version}) does not list its options as gcc does",
                expected="gcc, g++ or gfortran, also with a version: gcc-12",
            )
        )
    return compiler


def listed_options(compiler: Compiler) -> ListedOptions:
    """The options that optimise, with their state at the flags of the compiler.

    InputError if the compiler prints no such list.
    """
    command = [compiler.path, *compiler.flags, "-Q", "--help=optimizers"]
    outcome = child_process.run(command, timeout=_LIMIT, environment=compilers.environment())
    options = _parsed(outcome.out) if outcome.ok else {}
    if not options:
        raise InputError(
            Fault(
                where="--flags",
                found=f"{compiler.path} prints no options: {outcome.describe()}",
                expected="what gcc -Q --help=optimizers prints",
            )
        )
    kept: dict[str, tuple[str, ...]] = {}
    left_out: dict[str, list[str]] = {}
    for spellings in (*options.values(), *_MORE):
        reason = _reason(spellings)
        if reason:
            left_out.setdefault(reason, []).append(spellings[0])
        else:
            kept.setdefault(flag_name(spellings[0]), spellings)
    return ListedOptions(
        spellings=tuple(kept.values()),
        left_out={reason: tuple(flags) for reason, flags in left_out.items()},
    )


def _parsed(text: str) -> dict[str, tuple[str, ...]]:
    """The spellings of each option that differ from its state, by its name; those of a value stand
    before the one that switches it off.

    >>> _parsed("  -fgcse  [enabled]\\n  -fweb  [disabled]\\n  -fira-region=[one|all]  one\\n")
    {'-fgcse': ('-fno-gcse',), '-fweb': ('-fweb',), '-fira-region': ('-fira-region=all',)}
    """
    switched: dict[str, tuple[str, ...]] = {}
    valued: dict[str, tuple[str, ...]] = {}
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None or match[3].startswith((_FOREIGN, "-f")):
            continue
        name, values, state = match.groups()
        if values is None:
            switched[name] = _switched(name, state)
        elif spellings := tuple(f"{name}={value}" for value in _values(name, values[1:], state)):
            valued[name] = spellings
    names = dict.fromkeys([*switched, *valued])
    return {name: (*valued.get(name, ()), *switched.get(name, ())) for name in names}


def _switched(name: str, state: str) -> tuple[str, ...]:
    """The forms of an option without a value that change its state; both where it has none."""
    off = f"-fno-{name.removeprefix('-f')}"
    return {"[enabled]": (off,), "[disabled]": (name,)}.get(state, (name, off))


def _values(name: str, form: str, state: str) -> list[str]:
    """Values of an option other than its own: of alternatives, of a range, or of any number.

    >>> _values("-flifetime-dse", "<0,2>", "2"), _values("-falign-loops", "", "16:11:8")
    (['0', '1'], ['8', '32', '64'])
    """
    if form.startswith("["):
        values = form.strip("[]").split("|")
    elif (ends := re.fullmatch(r"<(\d+),(\d+)>", form)) is not None:
        low, high = int(ends[1]), int(ends[2])
        values = [str(number) for number in sorted({low, (low + high) // 2, high})]
    elif form.startswith("<"):
        values = [str(number) for number in _NUMBERS]
    else:
        values = [str(number) for number in _ALIGNMENTS] if "align" in name else []
    return [value for value in values if value != state]


def _reason(spellings: Sequence[str]) -> str:
    """Why an option is left out without a trial; empty for one that is tried."""
    name = spellings[0].split("=")[0]
    return next((reason for reason, names in _RULES if re.search(names, name)), "")
