"""The C header: compiles without a warning, chooses by the rule, when run and when compiled."""

import json
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from exported_entries import choices, entry, key
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.domain.variant import Build
from autotune.results.export import header
from autotune.results.export.readers.autotune_wisdom import LARGEST, choose, nearest

STRICT = ["-Wall", "-Wextra", "-pedantic", "-Wshadow", "-Werror"]
ORDERS = ("ijl", "jil", "jli")
TILES = (None, 32, 64)


def grid(seed: int = 2):
    """Entries over sizes and threads with changing parameters, and what they may be."""
    chance = random.Random(seed)
    places = [(65536, 1), (65536, 2), (90000, 2), (4194304, 2), (1000, 4), (2**40, 16)]
    found = [
        (
            key(),
            entry(
                *place,
                seconds=chance.choice([1e-3, 2e-3]),
                parameters={
                    "order": chance.choice(ORDERS),
                    "tile": chance.choice(TILES),
                    "au": chance.random() < 0.5,
                    "share": chance.choice([0.5, 1.0]),
                },
            ),
        )
        for place in places
    ]
    domains = {"order": ORDERS, "tile": TILES, "au": (False, True), "share": (0.5, 1.0)}
    return choices(found, domains)


def queries(made) -> list[tuple[int, int]]:
    entries = made.sections[0].entries
    sizes = sorted({e.size for e in entries})
    middle = [round((a * b) ** 0.5) + d for a in sizes for b in sizes for d in (-1, 0, 1)]
    threads = [0, 1, 2, 3, 4, 5, 8, 9, 16, 1000]
    return [(size, count) for size in (1, *middle, LARGEST) for count in threads]


PROGRAM = r"""
#include <stdio.h>
#include "choice.h"
int other(long long size);
int main(void)
{
    long long size, threads;
    while (scanf("%lld %lld", &size, &threads) == 2) {
        const autotune_heat2d_choice *c = autotune_heat2d_choose(size, threads);
        const char *by_number = "?";
        switch (c->order_id) {
        case AUTOTUNE_HEAT2D_ORDER_IJL: by_number = "ijl"; break;
        case AUTOTUNE_HEAT2D_ORDER_JIL: by_number = "jil"; break;
        case AUTOTUNE_HEAT2D_ORDER_JLI: by_number = "jli"; break;
        default: break;
        }
        printf("{\"candidate\": \"%s\", \"order\": \"%s\", \"number\": \"%s\", \"tile\": %lld,"
               " \"tile_set\": %d, \"au\": %d, \"share\": %g, \"seconds\": %.17g,"
               " \"verified\": %d}\n",
               c->candidate, c->order, by_number, c->tile, c->tile_set, c->au, c->share,
               c->seconds, c->verified);
    }
    return other(1);
}
"""
OTHER = (
    '#include "choice.h"\nint other(long long s) { return autotune_heat2d_choose(s, 1) == 0; }\n'
)


@pytest.mark.parametrize("words", ["gcc -std=c99", "g++ -x c++ -std=c++11", "clang -std=c99"])
def test_the_header_chooses_as_the_readers_do(words: str, tmp_path: Path) -> None:
    made = grid()
    entries = made.sections[0].entries
    (tmp_path / "choice.h").write_text(header.write(made), encoding="utf-8")
    (tmp_path / "main.c").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "other.c").write_text(OTHER, encoding="utf-8")
    compiler, *flags = words.split()
    try:
        subprocess.run(
            [compiler, *flags, *STRICT, "main.c", "other.c", "-o", "main"], cwd=tmp_path, check=True
        )
    except FileNotFoundError:
        pytest.skip(f"optional: {compiler} is not installed")
    asked = queries(made)
    text = "".join(f"{size} {threads}\n" for size, threads in asked)
    done = subprocess.run(
        [tmp_path / "main"], input=text, capture_output=True, text=True, check=True
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    keys = [(e.size, e.threads, e.seconds) for e in entries]
    for (size, threads), row in zip(asked, found, strict=True):
        right = entries[choose(keys, size, threads)]
        assert row == {
            "candidate": right.candidate,
            "order": right.parameters["order"],
            "number": right.parameters["order"],
            "tile": right.parameters["tile"] or 0,
            "tile_set": int(right.parameters["tile"] is not None),
            "au": int(right.parameters["au"]),
            "share": right.parameters["share"],
            "seconds": right.seconds,
            "verified": 1,
        }, (size, threads)


def macros(folder: Path, defines: Sequence[str]) -> dict[str, str]:
    words = ["gcc", "-std=c99", "-E", "-dM", *defines, "choice.h"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    pairs = [line.split(maxsplit=2)[1:] for line in done.stdout.splitlines()]
    return {pair[0]: pair[1] if len(pair) > 1 else "" for pair in pairs}


def test_macros_for_a_target_hold_the_same_values(tmp_path: Path) -> None:
    made = grid(4)
    entries = made.sections[0].entries
    (tmp_path / "choice.h").write_text(header.write(made), encoding="utf-8")
    start = "AUTOTUNE_HEAT2D_"
    assert not any(name.startswith(f"{start}TUNED_") for name in macros(tmp_path, []))
    keys = [(e.size, e.threads, e.seconds) for e in entries]
    for size, threads in random.Random(1).sample(queries(made), 25):
        defines = [f"-D{start}SIZE={size}"]
        if threads:
            defines.append(f"-D{start}THREADS={threads}")
        found = macros(tmp_path, defines)
        right = entries[choose(keys, size, threads)]
        order, tile = right.parameters["order"], right.parameters["tile"]
        assert found[f"{start}TUNED_CANDIDATE"] == f'"{right.candidate}"'
        assert found[f"{start}TUNED_ORDER"] == f'"{order}"'
        assert found[f"{start}TUNED_ORDER_ID"] == f"{start}ORDER_{str(order).upper()}"
        assert found[f"{start}TUNED_TILE"] == f"{tile or 0}"
        assert found[f"{start}TUNED_TILE_SET"] == str(int(tile is not None))
        assert found[f"{start}TUNED_AU"] == str(int(right.parameters["au"] is True))


def test_fields_do_not_depend_on_what_was_chosen(tmp_path: Path) -> None:
    """An application that was written for one header compiles with the next."""
    domains = {"order": ORDERS, "tile": TILES}
    texts = [
        header.write(choices([(key(), entry(100, 1, parameters=parameters))], domains))
        for parameters in ({"order": "jli", "tile": None}, {"order": "ijl", "tile": 64})
    ]
    members = [text[text.index("typedef struct") : text.index("_choice;")] for text in texts]
    numbers = [[line for line in text.splitlines() if "_ORDER_J" in line][:2] for text in texts]
    assert members[0] == members[1]
    assert "long long tile;" in members[0]
    assert numbers[0] == numbers[1] == [
        "#define AUTOTUNE_HEAT2D_ORDER_JIL 2",
        "#define AUTOTUNE_HEAT2D_ORDER_JLI 3",
    ]  # fmt: skip


HOSTILE = 'evil */ #error "\\" ??/ \n %s \u00e9 // \x01'


def test_names_and_texts_of_any_kind_compile(tmp_path: Path) -> None:
    names = ["int", "size", "Size", "3d-tile", "a b", "a_b", "\u00e9", "class", "for", HOSTILE, ""]
    parameters = dict.fromkeys(names, 1) | {"text": HOSTILE, "none": None, "mixed": "none"}
    parameters |= {"large": 2**70, "least": -(2**63) + 1, "tiny": 5e-324}
    domains = {"text": (HOSTILE, "a*b", "a+b", ""), "mixed": (8, "none")}
    found = [
        (
            key(HOSTILE),
            entry(
                10,
                1,
                parameters=parameters,
                candidate=HOSTILE,
                build=Build(compiler="gcc", flags=(HOSTILE,)),
            ),
        ),
        (key("int", id=HOSTILE), entry(10, 1, problem=HOSTILE, ties=(HOSTILE,) * 5)),
        (key("int", id="other", ranks=4), entry(10, 1, seconds=None, interval=None, source="map")),
        (key("int", machine=HOSTILE), entry(10, 1, loss_bound=0.04)),
    ]
    text = header.write(choices(found, domains, study=HOSTILE))
    (tmp_path / "choice.h").write_text(text, encoding="utf-8")
    (tmp_path / "main.c").write_text('#include "choice.h"\n', encoding="utf-8")
    for words in (["gcc", "-std=c99"], ["gcc", "-std=c11", "-trigraphs"]):
        subprocess.run([*words, *STRICT, "-c", "main.c", "-o", "m.o"], cwd=tmp_path, check=True)
    assert "loss      below 4.00% of the best time, with 95%" in text
    assert "and 2 more" in text


def test_what_was_compared_with_nothing_is_not_checked() -> None:
    text = header.write(choices([(key(), entry(65536, 2, verified=False, error=None))]))
    assert "verified  not checked" in text


def test_the_comment_says_where_each_entry_comes_from() -> None:
    text = header.write(
        choices([(key(), entry(65536, 2, ties=("x:1",), speedup=1.5, verified=False))])
    )
    assert text.startswith(header.MARK)
    for told in (
        "AMD EPYC 9R14, 2 cores (identity abc123)",
        "gcc 12.2.0; flags -O3 -march=znver3",
        "3.277e-05 s per time step, 90 % interval 2.949e-05 to 3.932e-05 s, 15 samples",
        "verified  no",
        "study     tuned, run 20261121T030000-1a2b3c4d",
        "1.5 over the baseline",
        "tied with x:1",
        "define AUTOTUNE_HEAT2D_SIZE",
    ):
        assert told in text


@given(
    st.lists(st.integers(1, LARGEST), min_size=1, max_size=6),
    st.integers(1, LARGEST),
)
@settings(max_examples=100, deadline=None)
def test_borders_are_where_the_nearest_value_changes(values: list[int], wanted: int) -> None:
    found = header.borders(values)
    there = next(value for last, value in found if last is None or wanted <= last)
    assert there == nearest(values, wanted)
