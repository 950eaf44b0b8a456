"""Rows are fetched from memory before a sweep over components comes to them."""

from collections.abc import Collection
from dataclasses import replace

from autotune.codegen.tree.loop_tree import Assign, Sweep, near
from autotune.codegen.tree.whole_lines import in_lines
from autotune.language.expression import Ref, Sym, number, symbols

_SIZE = 1009
"""A size at which the offset of an element shows which is the foremost one."""


def prefetched(sweep: Sweep, lines: int, windows: Collection[str]) -> Sweep:
    """The sweep with its rows fetched ``lines`` cache lines ahead, but not those of ``windows``.

    Of each row the foremost element is fetched: the sweep has come to the others before. Its loops
    run a cache line at a time; those for which ``in_lines`` does not provide stay as they are.
    """
    lined = sweep if sweep.lines or sweep.streamed else in_lines(sweep, 1)
    if not (lined.lines or lined.streamed):
        return sweep
    foremost: dict[str, Ref] = {}
    stored = {row for row, place in sweep.rows if place.array not in windows}
    for statement in (s for stretch in sweep.stretches for s in stretch.statements):
        written = (
            (Ref(statement.target, (Sym("j"),)),)
            if isinstance(statement, Assign) and not sweep.streamed
            else ()
        )
        for ref in (*near(statement), *written):
            if ref.array not in stored or symbols(ref.indices[-1]) - {"j", "N"}:
                continue
            if ref.array not in foremost or _offset(ref) > _offset(foremost[ref.array]):
                foremost[ref.array] = ref
    if not foremost:
        return sweep
    name = f"{lined.name}_ahead{lines}"
    return replace(lined, name=name, prefetched=tuple(foremost.values()), ahead=lines)


def _offset(ref: Ref) -> float:
    return number(ref.indices[-1], {"j": 0, "N": _SIZE})
