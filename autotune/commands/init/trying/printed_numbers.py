"""Times, rates and answers in what a program printed when it was tried."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from autotune.commands.init.time_units import TIME_UNIT, unit_of
from autotune.units import parse
from autotune.workloads.program.measuring.printed_output import shown_lines

Kind = Literal["time", "rate", "cost"]
"""A time in seconds of the run; a rate, of which more is better; a time for one operation."""

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?"
_PLAIN = re.compile(rf"(?<![\w.]){NUMBER}(?!\d)")
_IN_PATTERNS = re.compile(rf"{_PLAIN.pattern}|\d+\.\d+")
"""Numbers that another run may print otherwise, also behind a letter: ``x3.186``."""
_COMMAS = re.compile(
    r"(?<![\w.,'\u2019])(?:"
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?"
    r"|\d{1,3}(?:['\u2019\u00a0\u202f]\d{3})+(?:[.,]\d+)?"
    r"|\d{1,3}(?:\.\d{3})+,\d+"
    r"|\d+,\d+"
    r"|\d+(?::\d\d)+(?:[.,]\d+)?"
    r")(?!\d|[.,'\u2019]\d)"
)
"""Numbers with decimal commas or groups of digits and times of a clock, ``0,25``, ``1,234,567``,
``1:12.5``, which the tuner does not read; lists such as ``1024,4,0.25`` are none.
"""
_GROUP = r"([-+0-9.eEdD]+)"
_ANY = r"[-+0-9.eEdD]+"
_OF_DAYS = r"(?:/|\s+per\s+)(?:days?|hours?|hr|minutes?|min)(?![\w/])"
"""What follows a rate in long units, such as the simulated ``ns/day``."""
_RATE = (
    r"[A-Za-z]+/(?:seconds?|secs?|s)(?![\w/])"
    rf"|[A-Za-z]+{_OF_DAYS}"
    r"|[kKMGTPgmt]?(?:FLOPS?|flops?|Flops?|LUPS|CUPS|OPS|TEPS|lups|mips)(?:/s(?:ec)?)?(?!\w)"
    r"|(?:[A-Za-z]+\s+|\w+_)?per[\s_]+sec(?:ond)?(?!\w)"
    r"|(?:fps|FPS|rps|qps|QPS)(?!\w)"
)
_RATE_AFTER = re.compile(rf"\s*[\[(]?({_RATE})")
_RATE_WITHIN = re.compile(rf"(?<![\w/])({_RATE})")
_COST_AFTER = re.compile(
    rf"\s*[\[(]?((?:{TIME_UNIT}|cycles)(?!{_OF_DAYS})\s*(?:/|per)\s*[A-Za-z]+)", re.IGNORECASE
)
_TIME_AFTER = re.compile(rf"\s*[\[(]?({TIME_UNIT})(?![\w/])")
_TIME_WITHIN = re.compile(
    rf"[\[(]\s*(?:in\s+)?({TIME_UNIT})\s*[\])]|\bin\s+({TIME_UNIT})\b"
    r"|\w_(ns|us|ms|[num]?secs?|(?:nano|micro|milli)?seconds?)\b",
    re.I | re.ASCII,
)
"""The unit in a title: ``(ms)``, ``in ms``, ``time_ms``."""
_THOUSANDS = re.compile(r"k(?!\w)")
_PER_SECOND = re.compile(r"1000s of bytes per second", re.IGNORECASE)
_TIME_WORD = re.compile(
    r"\b(?:time|times|elapsed|took|wall|wallclock|runtime|real|duration|seconds|walltime)\b"
    r"|time\b|_time|_s\b|Time",
    re.IGNORECASE,
)
_STRONG = re.compile(
    r"total|elapsed|wall|overall|real|took|best|throughput|solve|kernel|perform|average|avg|mean|"
    r"median|bandwidth|\bt?ime\b|rate",
    re.IGNORECASE,
)
_WEAK = re.compile(
    r"init|setup|set-up|user|sys\b|read|load|warm|alloc|compil|generat|verif|check|estimat|expect|"
    r"theor|peak|resolution|granular|tick|precision|timer|overhead|clock|startup|limit|worst|std",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"(check\w*|digest|hash|crc\w*|\w*sum|norm\w*|residu\w*|results?|answers?|energy|solution\w*|"
    r"[\w-]*score|error|verif\w*|zeta|pi|value|total|count|found|max\w*|min\w*)\b",
    re.IGNORECASE,
)
_SURE_ANSWER = re.compile(
    r"check|digest|hash|score|crc|sum|norm|residu|result|answer|verif|valid", re.IGNORECASE
)
_CLOCK = re.compile(r"cpu|user|real|wall|elapsed", re.I)
"""Words that tell by which clock a number was taken."""
_WORDS_OF_SUCCESS = re.compile(
    r"\b(passed|pass|valid\w*|success\w*|correct\w*|ok|verified)\b", re.IGNORECASE
)
_FILLERS = {"of", "in", "be", "for", "per", "the", "to", "at", "is", "on", "and", "was", "are"}
_LONGEST = 60
"""Characters of a line before a number that its pattern has."""
_TINY = 0.02
"""The share of a run below which a time is hardly what the run is for."""
MOST_LINES = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedNumber:
    """A number that a program prints, and what finds it."""

    line: str
    """The line, as it was printed."""
    label: str
    """The text before it on its line."""
    value: float
    pattern: str
    kind: Kind
    unit: str
    """As a description of a program writes it: ``ms``, ``MB/s``, ``us/loop``."""
    sure: int
    """How likely it is what the program is run for; only for comparing."""
    count: int = 1
    """How often the pattern matches in a run."""

    @property
    def better(self) -> str:
        """Whether more or less of it is better."""
        return "more" if self.kind == "rate" else "less"

    @property
    def name(self) -> str:
        """A name for it as a metric: the last word before it, or its unit."""
        words = re.findall(r"[A-Za-z_]\w*", re.sub(rf"[\[(].*?[\])]|{_RATE}", " ", self.label))
        usable = [word for word in words if len(word) > 1 and word.lower() not in _FILLERS]
        return re.sub(r"\W", "_", usable[-1].lower()) if usable else "rate"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedAnswer:
    """A value that must not change, and what finds it."""

    line: str
    text: str
    pattern: str


def printed_numbers(text: str, wall: float) -> list[PrintedNumber]:
    """The times and rates in an output, the most likely first.

    ``wall``: seconds that the run took; longer times are none.
    """
    lines = _lines(text)
    seen: dict[str, PrintedNumber] = {}
    places: dict[str, int] = {}
    thousands = _PER_SECOND.search(text) is not None
    for i, line in enumerate(lines):
        rows = [*_in_table(lines, i), *_in_line(line, thousands=thousands)]
        shared = any(number.kind == "rate" for number in rows)
        for number in rows:
            if number.kind == "time" and not _possible(number, wall):
                continue
            # a rate beside a time says the same with the work taken into account
            beside = 3 if shared and number.kind == "time" else 0
            sure = number.sure - beside - _tiny(number, wall) - _of_cpu(number)
            better = replace(number, sure=sure)
            old = seen.get(number.pattern)
            places[number.pattern] = i
            seen[number.pattern] = replace(better, count=old.count + 1) if old else better
    # of several lines the last, of several numbers in a line the first
    return sorted(seen.values(), key=lambda n: (-n.sure, -_share(n, wall), -places[n.pattern]))


def printed_answers(
    first: str, second: str, tolerance: float = 1e-9
) -> tuple[list[PrintedAnswer], list[str]]:
    """The values that two runs printed alike, the most likely first; lines that looked like such a
    value and differed.

    ``tolerance``: relative difference of values that count as alike.
    """
    differing = []
    answers: list[tuple[int, PrintedAnswer]] = []
    others = _lines(second)
    for line in _lines(first):
        answer = _answer(line)
        if answer is None:
            continue
        values = [m.group(1) for other in others if (m := re.search(answer.pattern, other))]
        if values and _alike(values[0], answer.text, tolerance):
            rank = 2 * bool(_SURE_ANSWER.search(line)) + ("." in answer.text)
            answers.append((rank, answer))
        elif values:
            differing.append(f"{line.strip()[:80]} | {values[0]}")
    answers.sort(key=lambda pair: -pair[0])
    return [answer for _, answer in answers], differing


def comma_lines(text: str) -> list[str]:
    """The lines with a time or a rate that is not read, for commas or colons part its digits."""
    return [
        line.strip()
        for line in _lines(text)
        for match in _COMMAS.finditer(line)
        if _RATE_AFTER.match(line, match.end())
        or _TIME_AFTER.match(line, match.end())
        or _TIME_WORD.search(line[: match.start()])
    ]


def ratio_pattern(number: PrintedNumber) -> str:
    """What finds a ratio such as ``(x2.43)`` or ``(2.43)`` in the line of a number; empty if none.

    A percentage is none, nor is a number with a unit.
    """
    match = re.search(r"\(x?(\d+\.\d+)\)", number.line)
    if match is None:
        return ""
    before = before_pattern(number.line[: match.start(1)])
    return f"{before}([0-9.]+)\\)"


def _lines(text: str) -> list[str]:
    """The lines of an output, as a terminal and the tuner show them."""
    return [line for line in islice(shown_lines(text), MOST_LINES) if line.strip()]


def _alike(a: str, b: str, tolerance: float) -> bool:
    try:
        return math.isclose(_float(a), _float(b), rel_tol=tolerance)
    except ValueError:
        return a == b


def _float(text: str) -> float:
    return float(re.sub("[dD]", "e", text))


def _share(number: PrintedNumber, wall: float) -> float:
    return _seconds(number) / wall if number.kind == "time" and wall else 0.0


def _tiny(number: PrintedNumber, wall: float) -> int:
    return 2 * (number.kind == "time" and number.count * _share(number, wall) < _TINY)


def _of_cpu(number: PrintedNumber) -> int:
    """CPU time, or a rate by it, hides what threads gain and may exceed the life of a process."""
    before = number.line[: number.line.find(number.label) + len(number.label)]
    clocks = _CLOCK.findall(before)
    return 4 * bool(clocks and clocks[-1].lower() in ("cpu", "user"))


def _seconds(number: PrintedNumber) -> float:
    """A time in seconds."""
    return number.value * parse(f"1 {number.unit}", "time")


def _possible(number: PrintedNumber, wall: float) -> bool:
    """Whether a time can be one of a run that took so long, and is above the clock's resolution."""
    return 1e-8 < _seconds(number) <= wall * 1.01 + 1e-3


# --- numbers in lines of text -----------------------------------------------------------------


def _in_line(line: str, *, thousands: bool) -> Iterator[PrintedNumber]:
    """The times and rates of one line."""
    end = 0
    unread = [match.span() for match in _COMMAS.finditer(line)]
    for match in _PLAIN.finditer(line):
        if any(start <= match.start() < stop for start, stop in unread):
            continue
        label = line[end : match.start()]
        end = match.end()
        kind, unit, tail, stated = _kind(line, label, match.end(), thousands=thousands)
        value = _value(match.group())
        if kind is None or value is None or value <= 0:
            continue
        end += len(tail)
        yield PrintedNumber(
            line=line.strip(),
            label=label.strip(),
            value=value,
            pattern=f"{before_pattern(line[: match.start()])}{_GROUP}{_spaced(tail.rstrip())}",
            kind=kind,
            unit=unit,
            sure=_sure(label if label.strip() else line[: match.start()], kind, stated=stated),
        )


def _kind(
    line: str, label: str, end: int, *, thousands: bool
) -> tuple[Kind | None, str, str, bool]:
    """What a number is, its unit, the text of the unit behind it, and whether a unit is stated."""
    if match := _COST_AFTER.match(line, end):
        return "cost", re.sub(r"\s*(?:/|per)\s*", "/", match.group(1)), match.group(), True
    if match := _RATE_AFTER.match(line, end):
        return "rate", re.sub(r"\s+", " ", match.group(1)), match.group(), True
    if match := _TIME_AFTER.match(line, end):
        return "time", unit_of(match.group(1)), match.group(), True
    if thousands and (match := _THOUSANDS.match(line, end)):
        return "rate", "kB/s", match.group(), True
    rates = list(_RATE_WITHIN.finditer(label))
    if rates:
        return "rate", rates[-1].group(1), "", True
    if match := _TIME_WITHIN.search(label):
        return "time", unit_of(match[match.lastindex or 1]), "", True
    if _TIME_WORD.search(label) and not re.match(r"\s*(?:%|[A-Za-z])", line[end:]):
        return "time", "s", "", False
    return None, "", "", False


def _sure(label: str, kind: Kind, *, stated: bool) -> int:
    words = bool(_TIME_WORD.search(label)) if kind == "time" else True
    strong = 2 * bool(_STRONG.search(label)) - 3 * bool(_WEAK.search(label))
    return 4 + stated + strong - (not words)


def _value(text: str) -> float | None:
    try:
        value = _float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def before_pattern(before: str) -> str:
    """A pattern for the text before a number; other numbers in it match any number.

    >>> before_pattern("run 3: time ")
    '^\\\\s*run\\\\s*[-+0-9.eEdD]+:\\\\s*time\\\\s*'
    """
    kept = before
    if len(before) > _LONGEST:
        kept = before[-_LONGEST:]
        kept = kept[re.match(r"\S*\s*", kept).end() :] or kept  # type: ignore[union-attr]
    start = r"^\s*" if len(kept) == len(before) else ""
    parts, end = list[str](), 0
    for match in _IN_PATTERNS.finditer(kept):
        parts += [_spaced(kept[end : match.start()]), _ANY]
        end = match.end()
    pattern = "".join([*parts, _spaced(kept[end:])])
    return start + pattern.removeprefix(r"\s*") if start else pattern


def _spaced(text: str) -> str:
    """The text as a regular expression in which any white space matches any."""
    return r"\s*".join(
        re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", part) for part in re.split(r"\s+", text)
    )


# --- tables -----------------------------------------------------------------------------------


def _in_table(lines: Sequence[str], i: int) -> Iterator[PrintedNumber]:
    """The numbers of a row below a line of titles, one title a column."""
    cells = lines[i].split()
    if len(cells) < 2 or not any(_PLAIN.fullmatch(cell) for cell in cells):
        return
    titles = _titles(lines[:i], len(cells))
    for column, (title, cell) in enumerate(zip(titles, cells, strict=False)):
        value = _value(cell) if _PLAIN.fullmatch(cell) else None
        rate = _RATE_WITHIN.search(title)
        timed = _TIME_WORD.search(title)
        if value is None or value <= 0 or not (rate or timed):
            continue
        unit = _TIME_WITHIN.search(title)
        stated = unit_of(unit[unit.lastindex or 1]) if unit else "s"
        head = [_ANY if _PLAIN.fullmatch(before) else _spaced(before) for before in cells[:column]]
        yield PrintedNumber(
            line=lines[i].strip(),
            label=f"{cells[0]} {title}" if not _PLAIN.fullmatch(cells[0]) else title,
            value=value,
            pattern=r"^\s*" + "".join(f"{part}\\s+" for part in head) + _GROUP,
            kind="rate" if rate else "time",
            unit=rate.group(1) if rate else stated,
            sure=_sure(title, "rate" if rate else "time", stated=bool(rate or unit)),
        )


def _titles(above: Sequence[str], columns: int) -> list[str]:
    """The titles over a row: the nearest line above with as many and no numbers; else none."""
    for line in reversed(above[-40:]):
        if _PLAIN.search(line):
            continue
        for parts in (re.split(r"\s{2,}|\t|\s*\|\s*", line.strip()), line.split()):
            if len(parts) == columns and not set(line) <= set("-=+ |"):
                return parts
        # "Best Rate MB/s" and its neighbours may be one blank apart from each other
        if not set(line.strip()) <= set("-=+ |_"):
            return []
    return []


# --- answers ----------------------------------------------------------------------------------


def _answer(line: str) -> PrintedAnswer | None:
    """The value of a line that must not change; None if the line has none."""
    named = _ANSWER.search(line)
    if named is None:
        return None
    said = _WORDS_OF_SUCCESS.search(line)
    for match in _PLAIN.finditer(line, named.end()):
        label = line[: match.start()]
        last = re.split(NUMBER, label)[-1]
        rated = _RATE_AFTER.match(line, match.end()) or _TIME_AFTER.match(line, match.end())
        if rated or _RATE_WITHIN.search(last) or _TIME_WORD.search(last):
            break
        if said and said.start() < match.start():
            break
        if label.rstrip().endswith(("<", ">", "<=", ">=")):
            continue  # a limit that the program states, not what it found
        if (whole := _COMMAS.search(line, match.start())) and whole.start() == match.start():
            if ":" in whole.group():
                break
            pattern = before_pattern(label) + r"(\d[\d.,'\u2019\u00a0\u202f]*\d)"
            return PrintedAnswer(line=line.strip(), text=whole.group(), pattern=pattern)
        pattern = before_pattern(label) + r"([-+.\w]+)"
        read = re.search(pattern, line)  # more than the number where it begins a word: 2daeb1f3
        text = read.group(1) if read else match.group()
        return PrintedAnswer(line=line.strip(), text=text, pattern=pattern)
    if said and not _TIME_WORD.search(line):
        pattern = before_pattern(line[: said.start()]) + r"(\w+)"
        return PrintedAnswer(line=line.strip(), text=said.group(), pattern=pattern)
    return None
