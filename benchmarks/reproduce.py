"""Every printed number that can be recomputed, beside what we compute: one command.

    python benchmarks/reproduce.py [--source kaltenecker,garren,ibeid,extrap] [--data FOLDER]
                                   [--all] [--json]

Sources: Kaltenecker 2016 (comparison, designs, SMG2000, BoomerAMG), Garren 2010 (scaling), Ibeid et
al. 2019 (hybrid models; its experiments in kind on times of `record_stencils.py`), the quick start
of Extra-P; those of Scherg et al. 2019 are in `icpe19.py`. The printed numbers with place, unit and
errata are in `published/`. Each row says

    digits        every printed digit comes out, rounded
    truncated     the same, cut off instead of rounded
    inputs        within what the rounding of the printed inputs explains
    erratum       the printed number is wrong, the corrected one (in brackets) comes out
    differs       does not come out; the reason is listed
    not computed  what it needs is not printed or not public; the reason is listed, once per table

Nothing is measured. Extra-P's inputs are read from FOLDER, where they are not in the repository's
neighbourhood. Exit code 1 if a number differs without a stated reason.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import garren_lines
import reproduce_extrap
import reproduce_garren
import reproduce_ibeid
import reproduce_kaltenecker
from reproduce_rows import MEANING, Number, Row, Section, Span, Verdict, shown, summary, table

_VERDICTS: Mapping[garren_lines.Verdict, Verdict] = {
    "agrees": "digits",
    "truncated": "truncated",
    "within": "inputs",
    "erratum": "erratum",
    "differs": "differs",
}
ELSEWHERE = """Elsewhere: the tables of Scherg et al. (ICPE 2019) need a machine file and their
own predictions: python benchmarks/icpe19.py. The numbers of Alam and Vetter are counts that the
assertions of a program check against its symbolic model: none is of a model of this command."""


def _garren() -> list[Section]:
    """The lines of `reproduce_garren` as rows."""
    rows = []
    for place, line in enumerate(reproduce_garren.compared()):
        number = Number(
            id=f"garren-{place}",
            where=line.where,
            what=line.what,
            printed=f"{line.printed:.{line.digits}f}",
            corrected="" if line.corrected is None else f"{line.corrected:.{line.digits}f}",
            irreproducible=line.note if line.verdict == "differs" else "",
            reason=line.note if line.verdict == "erratum" else "by the rounding of the inputs",
        )
        row = Row(number=number, computed=line.computed, verdict=_VERDICTS[line.verdict])
        rows.append(row)
    for place, (where, reason) in enumerate(garren_lines.IRREPRODUCIBLE):
        number = Number(
            id=f"garren-irreproducible-{place}", where=where, what="all of it", printed="-",
            irreproducible=reason,
        )  # fmt: skip
        rows.append(Row(number=number, computed=None, verdict="not computed"))
    slips = tuple(f"slip: {each}" for each in garren_lines.SLIPS)
    return [Section(title="Garren 2010", rows=tuple(rows), notes=slips)]


_SOURCES: Mapping[str, Callable[[], list[Section]]] = {
    "kaltenecker": reproduce_kaltenecker.sections,
    "garren": _garren,
    "ibeid": reproduce_ibeid.sections,
    "extrap": reproduce_extrap.sections,
}


def main() -> None:
    arguments = _arguments()
    sections: list[Section] = []
    for name in arguments.source.split(","):
        if name not in _SOURCES:
            sys.exit(f"unknown source {name!r}; expected some of {', '.join(_SOURCES)}")
        print(f"{name} ...", file=sys.stderr, flush=True)
        sections += _sections(name, arguments.data)
    if arguments.json:
        print(json.dumps({"schema": "autotune.reproduce/1", "sections": _document(sections)}))
    else:
        print(text(sections, every=arguments.all))
    missing = [row for each in sections for row in each.unexplained]
    for row in missing:
        print(f"without a reason: {row.number.id}", file=sys.stderr)
    sys.exit(1 if missing else 0)


def _sections(source: str, data: Path | None) -> list[Section]:
    if source == "extrap" and data is not None:
        return reproduce_extrap.sections(data)
    return _SOURCES[source]()


def text(sections: Sequence[Section], *, every: bool = False) -> str:
    """All sections, then the numbers that do not come out, then how many came out in which way.

    ``every``: rows that were not computed stand in the tables too.
    """
    parts = []
    for each in sections:
        rows = [row for row in each.rows if every or row.verdict != "not computed"]
        parts.append(f"{each.title}\n\n{table(rows)}")
        parts += [f"{note}" for note in each.notes]
        reasons = _reasons(each)
        if reasons:
            parts.append("not reproduced, or not to the digit:\n" + "\n".join(reasons))
    meanings = "\n".join(f"{name}: {meaning}" for name, meaning in MEANING.items())
    return "\n\n".join([*parts, f"{summary(sections)}\n\n{meanings}", ELSEWHERE])


def _reasons(section: Section) -> list[str]:
    """One line for each reason: where it holds, and how many numbers it is about."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in section.rows:
        if row.reason:
            found.setdefault((row.verdict, row.reason), []).append(row)
    lines = []
    for (verdict, reason), rows in found.items():
        places = ", ".join(dict.fromkeys(row.number.where for row in rows))
        lines.append(f"  {places} ({len(rows)}, {verdict}): {reason}")
    return lines


def _document(sections: Sequence[Section]) -> list[dict[str, object]]:
    return [
        {
            "title": each.title,
            "notes": list(each.notes),
            "rows": [
                {
                    "id": row.number.id,
                    "where": row.number.where,
                    "what": row.number.what,
                    "printed": row.number.printed,
                    "corrected": row.number.corrected or None,
                    "computed": row.computed.value
                    if isinstance(row.computed, Span)
                    else row.computed,
                    "shown": shown(row),
                    "unit": row.number.unit,
                    "verdict": row.verdict,
                    "reason": row.reason or None,
                }
                for row in each.rows
            ],
        }
        for each in sections
    ]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--source", default=",".join(_SOURCES), help="some of the sources")
    parser.add_argument("--data", type=Path, default=None, help="folder of Extra-P's inputs")
    parser.add_argument("--all", action="store_true", help="rows that were not computed too")
    parser.add_argument("--json", action="store_true", help="one document instead of text")
    return parser.parse_args()


if __name__ == "__main__":
    main()
