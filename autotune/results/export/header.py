"""A C header that chooses the variant by size and number of threads: C99 and C++11.

Each section has a struct with the parameters as fields, a ``static inline`` function that looks up
an entry at run time, and macros with the same values for a size and a number of threads that are
fixed at compile time. The rule is that of the wisdom files. It is converted here to borders between
neighbouring sizes and numbers of threads, so that the header compares only whole numbers.
"""

import dataclasses
import itertools
from collections.abc import Iterator, Sequence

from autotune.domain.metric import TIME, Metric
from autotune.results.export import c_names
from autotune.results.export.entries import Choices, ExportEntry, ExportSection, ExportSubject
from autotune.results.export.readers.autotune_wisdom import choose, nearest
from autotune.tuning.maps.explore import LEVEL

MARK = "/* autotune.header/1"
"""How every such header begins."""

RULE = """\
Rule: entries with the asked number of threads are considered, else those with the nearest
number; of these the one of the nearest size is taken. Near is the distance of the logarithms; of
two that are equally near the smaller one is taken. 0 threads (or fewer) asks for any number: the
fastest entry of the nearest size."""


def write(choices: Choices) -> str:
    """The text of the C header that chooses by size and number of threads."""
    names = c_names.UniqueNames()
    guard = names.new(f"AUTOTUNE_{c_names.upper(choices.study)}_H")
    called = [section.key.subject.name for section in choices.sections]
    parts = [
        _SectionText(section, names, distinct=called.count(section.key.subject.name) == 1)
        for section in choices.sections
    ]
    lines = [
        f"{MARK}",
        *_comment(["", f"What autotune chose in study {choices.study}, as C99 or C++11.", ""]),
        *_comment(RULE.splitlines()),
        *(line for part in parts for line in _comment(part.about())),
        *_comment(_left_out(choices)),
        " */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        *(line for part in parts for line in part.code()),
        f"#endif /* {guard} */",
    ]
    return "\n".join(lines) + "\n"


def _left_out(choices: Choices) -> list[str]:
    if not (choices.skipped or choices.notes):
        return []
    lines = ["", "Without a choice:"] if choices.skipped else [""]
    for skipped in choices.skipped:
        where = skipped.problem + (f", {skipped.threads} threads" if skipped.threads else "")
        lines.append(f"  {where}: {skipped.reason}")
    return [*lines, *(f"Note: {note}" for note in choices.notes)]


def _comment(lines: Sequence[str]) -> list[str]:
    return [f" * {c_names.comment(line)}".rstrip() for line in lines]


def borders(values: Sequence[int]) -> list[tuple[int | None, int]]:
    """Ascending pairs (largest number for which a value is the nearest, the value).

    The last pair has None: it has no upper limit.

    >>> borders([2, 8])
    [(4, 2), (None, 8)]
    """
    ordered = sorted(set(values))
    ranges: list[tuple[int | None, int]] = []
    for low, high in itertools.pairwise(ordered):
        inside, outside = low, high
        while outside - inside > 1:
            middle = (inside + outside) // 2
            if nearest((low, high), middle) == low:
                inside = middle
            else:
                outside = middle
        ranges.append((inside, low))
    return [*ranges, (None, ordered[-1])]


@dataclasses.dataclass(frozen=True, slots=True)
class DecisionNode:
    """A node of a decision tree: borders of one quantity, each with a node or an entry's index."""

    quantity: str
    """``threads`` or ``size``."""
    branches: tuple[tuple[int | None, "DecisionNode | int"], ...]


def decision(entries: Sequence[ExportEntry], goal: Metric = TIME) -> DecisionNode:
    """The decision tree over size and number of threads; 0 threads means any number.

    ``goal``: what the entries were chosen by.
    """
    keys = [(entry.size, entry.threads, entry.cost(goal)) for entry in entries]
    free = borders([key[0] for key in keys])
    any_number = DecisionNode("size", tuple((last, choose(keys, size, 0)) for last, size in free))
    quantities = []
    for last, threads in borders([key[1] for key in keys]):
        sizes = borders([key[0] for key in keys if key[1] == threads])
        node = DecisionNode(
            "size", tuple((end, choose(keys, size, threads)) for end, size in sizes)
        )
        quantities.append((last, node))
    if quantities == [(None, any_number)]:
        return any_number
    return DecisionNode("threads", ((0, any_number), *quantities))


def rank_decision(sections: Sequence[ExportSection], goal: Metric = TIME) -> DecisionNode:
    """The decision tree over ranks, size and threads of sections that differ in their ranks alone.

    Entries are counted through all sections, which ascend by ranks. The section of one process is
    for one rank only; several ranks take the section of the nearest number of several, near as in
    ``RULE``.
    """
    starts = itertools.accumulate((len(s.entries) for s in sections), initial=0)
    nodes = {
        section.key.ranks: _counted_from(start, decision(section.entries, goal))
        for section, start in zip(sections, starts, strict=False)
    }
    rows: list[tuple[int | None, int]] = [(1, 1)] if 1 in nodes else []
    several = [ranks for ranks in nodes if ranks > 1]
    rows += borders(several) if several else []
    if len(rows) == 1:
        return nodes[rows[0][1]]
    return DecisionNode("ranks", tuple((last, nodes[ranks]) for last, ranks in rows))


def _counted_from(start: int, node: DecisionNode) -> DecisionNode:
    """The same tree with entries that are counted from another number on."""
    return DecisionNode(
        node.quantity,
        tuple(
            (last, then + start if isinstance(then, int) else _counted_from(start, then))
            for last, then in node.branches
        ),
    )


class _SectionText:
    """The C source of one section."""

    def __init__(
        self, section: ExportSection, names: c_names.UniqueNames, *, distinct: bool
    ) -> None:
        key, self._section = section.key, section
        ranks = f"_r{key.ranks}" if key.ranks > 1 else ""
        called = key.subject.name if distinct else key.subject.id
        self._name = names.new(f"autotune_{c_names.lower(called)}{ranks}")
        self._upper = self._name.upper()
        self._decision = decision(section.entries, key.subject.goal)
        self._fields = c_names.fields(self._upper, section.domains)

    # --- the comment --------------------------------------------------------------------

    def about(self) -> list[str]:
        key = self._section.key
        lines = [
            "",
            f"{key.subject.id} (definition {key.subject.definition or 'not known'})"
            + (f", {key.ranks} MPI ranks" if key.ranks > 1 else ""),
            f"  function  {self._name}_choose(size, threads)",
            f"  macros    define {self._upper}_SIZE, and {self._upper}_THREADS unless any number",
            f"            will do, before including this: {self._upper}_TUNED_*",
            f"  size      {key.subject.size}",
            f"  machine   {key.place.title} (identity {key.place.identity})",
        ]
        lines.append(
            f"  {key.subject.source:9} of a candidate:"
            " autotune variants CONFIG --emit CANDIDATE -o FOLDER"
        )
        for entry in self._section.entries:
            lines += ["", *_entry_comment(entry, key.subject)]
        return lines

    # --- the code -----------------------------------------------------------------------

    def code(self) -> Iterator[str]:
        yield from (line for field in self._fields for line in field.numbers())
        yield from self._struct()
        yield from self._function()
        yield from self._macros()
        yield ""

    def _struct(self) -> Iterator[str]:
        yield "typedef struct {"
        yield "    long long size;        /* of the entry that was taken */"
        yield "    int threads;"
        yield "    const char *candidate;"
        yield "    const char *variant;"
        yield "    const char *compiler;"
        yield "    const char *flags;"
        yield "    const char *communication;"
        yield "    const char *placement;"
        subject = self._section.key.subject
        name, about = "seconds", f"per {subject.per}"
        if not subject.goal.timed:
            better = f"{subject.goal.title}; {subject.goal.better} is better"
            name, about = "value", c_names.comment(better)
        yield f"    double {name + ';':15} /* {about}; negative: not known */"
        yield f"    double low, high;      /* 90 % interval of {name}; negative: not known */"
        yield "    double loss_bound;     /* of a decision map; negative: not known */"
        yield "    int verified;          /* 1: compared with a reference */"
        for field in self._fields:
            yield from (f"    {line}" for line in field.members())
        yield f"}} {self._name}_choice;"
        yield ""

    def _function(self) -> Iterator[str]:
        yield f"static inline const {self._name}_choice *{self._name}_choose("
        yield "    long long size, long long threads)"
        yield "{"
        yield f"    static const {self._name}_choice table[] = {{"
        for entry in self._section.entries:
            yield f"        {{{', '.join(self._values(entry))}}},"
        yield "    };"
        yield "    (void)size;"
        yield "    (void)threads;"
        yield from branches(self._decision, "    ", "&table[{}]")
        yield "}"
        yield ""

    def _values(self, entry: ExportEntry) -> Iterator[str]:
        yield f"{entry.size}LL"
        yield str(entry.threads)
        for text in (
            entry.candidate,
            entry.variant,
            entry.build.compiler,
            " ".join(entry.build.flags),
            entry.layout.communication,
            entry.layout.placement,
        ):
            yield c_names.literal(text)
        low, high = entry.interval or (None, None)
        value = entry.seconds if entry.value is None else entry.value
        for number in (value, low, high, entry.loss_bound):
            yield "-1.0" if number is None else repr(float(number))
        yield str(int(entry.verified))
        for field in self._fields:
            yield from field.initialisers(entry.parameters.get(field.parameter))

    def _macros(self) -> Iterator[str]:
        size, threads = f"{self._upper}_SIZE", f"{self._upper}_THREADS"
        yield f"#ifdef {size}"
        yield f"#ifndef {threads}"
        yield f"#define {threads} 0"
        yield "#endif"
        yield from self._conditions(self._decision, {"size": size, "threads": threads})
        yield f"#endif /* {size} */"

    def _conditions(self, node: DecisionNode, macros: dict[str, str]) -> Iterator[str]:
        for position, (last, then) in enumerate(node.branches):
            if len(node.branches) > 1:
                word = "#if" if position == 0 else "#elif"
                yield "#else" if last is None else f"{word} {macros[node.quantity]} <= {last}"
            if isinstance(then, DecisionNode):
                yield from self._conditions(then, macros)
            else:
                yield from self._defines(self._section.entries[then])
        if len(node.branches) > 1:
            yield "#endif"

    def _defines(self, entry: ExportEntry) -> Iterator[str]:
        start = f"#define {self._upper}_TUNED_"
        yield f"{start}FOR_SIZE {entry.size}"
        yield f"{start}FOR_THREADS {entry.threads}"
        yield f"{start}CANDIDATE {c_names.literal(entry.candidate)}"
        yield f"{start}COMPILER {c_names.literal(entry.build.compiler)}"
        yield f"{start}FLAGS {c_names.literal(' '.join(entry.build.flags))}"
        for field in self._fields:
            for name, value in field.macros(entry.parameters.get(field.parameter)):
                yield f"{start}{name} {value}"


def branches(node: DecisionNode, indent: str, taken: str) -> Iterator[str]:
    """Nested C comparisons of a decision tree; the last branch needs none.

    ``taken``: what is returned for an entry, with ``{}`` for its number.
    """
    for last, then in node.branches:
        test = "" if last is None else f"if ({node.quantity} <= {last}LL) "
        if isinstance(then, int):
            yield f"{indent}{test}return {taken.format(then)};"
        elif last is None:
            yield from branches(then, indent, taken)
        else:
            yield f"{indent}{test}{{"
            yield from branches(then, indent + "    ", taken)
            yield f"{indent}}}"


def _entry_comment(entry: ExportEntry, subject: ExportSubject) -> list[str]:
    """An entry as lines of a comment; its time is per step or per run."""
    goal = subject.goal
    origin = entry.origin
    time = entry.shown(subject) or "not measured"
    if entry.interval:
        low, high = entry.interval
        time += f", 90 % interval {low:.4g} to {high:.4g} {goal.unit}".rstrip()
    if entry.samples:
        time += f", {entry.samples} samples"
    verified = "yes" if entry.verified else "no" if entry.error is not None else "not checked"
    if entry.error is not None:
        verified += f", deviation {entry.error:.2g}"
    lines = [
        f"  size {entry.size}, threads {entry.threads} ({entry.problem}): {entry.variant}",
        f"    candidate {entry.candidate}",
        f"    compiler  {origin.compiler or entry.build.compiler};"
        f" flags {origin.flags or ' '.join(entry.build.flags)}",
        f"    {'time' if goal.timed else 'value':9} {time}"
        + (" (decision map)" if entry.source == "map" else ""),
        f"    verified  {verified}",
        f"    study     {origin.study}, run {origin.run}, {origin.taken}",
    ]
    if entry.speedup is not None:
        lines.append(f"    speedup   {entry.speedup:.3g} over the baseline")
    if entry.loss_bound is not None:
        lines.append(
            f"    loss      below {entry.loss_bound:.2%} of the best time, with {LEVEL:.0%}"
        )
    if entry.ties:
        more = f" and {len(entry.ties) - 3} more" if len(entry.ties) > 3 else ""
        lines.append(
            f"    tied with {', '.join(entry.ties[:3])}{more}: noise does not tell them apart"
        )
    return lines
