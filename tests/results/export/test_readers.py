"""The readers of wisdom files: C and Python give the same answers, right and wrong."""

import json
import math
import random
import subprocess
from pathlib import Path

import pytest
import wisdom_driver as driver

from autotune.results.export import readers
from autotune.results.export.readers import autotune_wisdom as reader
from autotune.results.export.readers.autotune_wisdom import LARGEST

CODES = {
    reader.UnreadableWisdom: 1,
    reader.Malformed: 3,
    reader.OtherVersion: 4,
    reader.NoSection: 5,
    reader.SeveralSections: 6,
    reader.OutOfRange: 7,
}
VALUES = (
    *(0, 7, -3, 2**62, 1.5, 1e-300, -0.1, True, False, None),
    *("", "jli", 'a "quoted" \\ text', "tab\there", "gr\u00fc\u00dfe", "\U0001f600", "none"),
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The C reader with the checks of the compiler for addresses and undefined behaviour."""
    checks = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    return driver.build(tmp_path_factory.mktemp("reader"), checks)


def entry(chance: random.Random, sizes: list[int], threads: list[int]) -> dict[str, object]:
    seconds = chance.choice([None, 1e-3, 2e-3, chance.lognormvariate(-7, 2)])
    return {
        "size": chance.choice(sizes),
        "threads": chance.choice(threads),
        "candidate": f"candidate-{chance.randrange(10**9)}\u00e9",
        "parameters": {f"p{i}": value for i, value in enumerate(VALUES)},
        "compiler": chance.choice(["gcc", "clang"]),
        "flags": chance.sample(["-O2", "-O3", "-march=native", '-D"x"'], chance.randrange(4)),
        "seconds": seconds,
        "interval_s": chance.choice([None, [1e-3, 2.5e-3]]),
        "loss_bound": chance.choice([None, 0.04]),
        "verified": chance.random() < 0.5,
    }


def wisdom(chance: random.Random) -> dict[str, object]:
    """A random file with many ties: few sizes, in ratios of whole numbers and of squares."""
    base = chance.choice([1, 3, 1000, 10**15])
    sizes = [min(base * k, LARGEST) for k in (1, 2, 4, 6, 9, 16, 36)]
    sizes += [min(base + k, LARGEST) for k in range(3)]
    threads = chance.choice([[1], [2, 4, 8], [1, 3, 9, 27], [6, 64, LARGEST]])
    section = {
        "machine": {"identity": f"m{chance.randrange(2)}", "name": "host", "title": "A machine"},
        "problem": {"id": f"heat2d m{chance.randrange(2)}", "name": "heat2d", "definition": "ab12"},
    }
    return {
        "schema": reader.SCHEMA,
        "sections": [
            {
                **section,
                "machine": {**section["machine"], "identity": f"m{chance.randrange(2)}"},
                "ranks": chance.choice([1, 1, 4]),
                "entries": [entry(chance, sizes, threads) for _ in range(chance.randrange(1, 12))],
            }
            for _ in range(chance.choice([1, 1, 1, 2, 4]))
        ],
    }


def queries(chance: random.Random, content: dict[str, object]) -> list[tuple[int, int]]:
    entries = [e for section in content["sections"] for e in section["entries"]]
    sizes = [e["size"] for e in entries]
    near = [min(max(1, s + d), LARGEST) for s in sizes for d in (-1, 0, 1)]
    between = [math.isqrt(a * b) + d for a in sizes for b in sizes for d in (0, 1)]
    asked = chance.choices([*near, *between, 1, LARGEST], k=12)
    counts = [e["threads"] for e in entries]
    around = [*counts, *(math.isqrt(a * b) for a in counts for b in counts), 0, 0, 1, LARGEST]
    found = [(size, chance.choice(around)) for size in asked]
    return [*found, (0, 1), (-5, 1), (LARGEST + 1, 1), (5, -1), (5, LARGEST + 1)]


def told(choice: reader.WisdomChoice) -> str:
    """A choice as the driver prints it."""
    low, high = choice.interval or (None, None)
    numbers = [
        -1.0 if number is None else number
        for number in (choice.seconds, low, high, choice.loss_bound)
    ]
    texts = [choice.candidate, *choice.flags]
    return " ".join(
        [
            *("0", str(choice.size), str(choice.threads), *(f"{n:.17g}" for n in numbers)),
            *(str(int(choice.verified)), *(text.encode().hex() for text in texts)),
        ]
    )


def parameter(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return f"bool {int(value)}"
    if isinstance(value, str):
        return f"str {value.encode().hex()}"
    return f"int {value}" if isinstance(value, int) else f"float {value:.17g}"


def expected(path: Path, asked: list[tuple[int, int]], select: list[object]) -> list[str]:
    content, answers = reader.load(str(path)), ["0"]
    part: reader.Section | reader.Wisdom = content
    try:
        part = content.select(*select)
        answers.append("0")
    except reader.WisdomError as error:
        answers.append(str(CODES[type(error)]))
    for size, threads in asked:
        try:
            choice = part.lookup(size, threads)
        except reader.WisdomError as error:
            answers.append(str(CODES[type(error)]))
            continue
        answers.append(told(choice))
        answers += [parameter(value) for value in choice.parameters.values()]
        answers.append("code 8")
    return answers


def test_both_readers_give_the_same_answers(program: Path, tmp_path: Path) -> None:
    chance = random.Random(5)
    requests, answers = [], []
    for number in range(100):
        content = wisdom(chance)
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(content, ensure_ascii=number % 2 == 0), encoding="utf-8")
        asked = queries(chance, content)
        machine, problem = chance.choice([None, "m0", "host"]), chance.choice([None, "heat2d"])
        ranks = chance.choice([0, 0, 1, 4])
        right = expected(path, asked, [machine, problem, ranks])
        requests += [f"o {path}", f"s {machine or '-'}\t{problem or '-'}\t{ranks}"]
        position = 2
        for size, threads in asked:
            requests.append(f"l {size} {threads}")
            position += 1
            if right[position - 1].startswith("0"):
                requests += [f"p p{i}" for i in range(len(VALUES))] + ["p unknown"]
                position += len(VALUES) + 1
        answers += right
    assert driver.ask(program, requests) == answers


def test_the_rule_is_nearest_size_at_the_same_threads_else_nearest_threads() -> None:
    keys = [(100, 1, 3.0), (400, 1, 2.0), (100, 4, 1.0), (1600, 4, 1.5)]
    assert reader.choose(keys, 200, 1) == 0  # as near to 400: the smaller
    assert reader.choose(keys, 201, 1) == 1
    assert reader.choose(keys, 10**6, 1) == 1  # not the 4 threads of 1600
    assert reader.choose(keys, 401, 2) == 1  # 1 and 4 threads are as near: the fewer
    assert reader.choose(keys, 401, 3) == 3
    assert reader.choose(keys, 401, 64) == 3
    assert reader.choose(keys, 100, 0) == 2  # any number of threads: the fastest
    assert reader.choose(keys, 500, 0) == 1


def test_damaged_files_are_told_alike_and_never_crash(program: Path, tmp_path: Path) -> None:
    chance = random.Random(3)
    good = json.dumps(wisdom(random.Random(1))).encode()
    fields = ["size", "threads", "candidate", "parameters", "compiler", "flags", "verified"]
    others = ["null", "-1", "0", "1.5", "[]", "{}", '""', "true", "9007199254740993", "1e400"]
    texts = [good[:cut] for cut in range(0, len(good), 61)]
    for _ in range(300):
        where = chance.randrange(len(good))
        texts.append(
            good[:where] + bytes([chance.choice(b'{}[]",:\\0e-u\x00\x7f')]) + good[where + 1 :]
        )
    content = json.loads(good)
    for name in (*fields, "seconds", "interval_s", "loss_bound"):
        for text in others:
            made = json.loads(good)
            made["sections"][0]["entries"][0][name] = json.loads(text)
            texts.append(json.dumps(made).encode())
        made = json.loads(good)
        del made["sections"][0]["entries"][0][name]
        texts.append(json.dumps(made).encode())
    for change in (
        {"schema": "autotune.wisdom/2"}, {"schema": 1}, {"sections": []}, {"sections": {}},
        {"sections": [{}]}, {"sections": [{**content["sections"][0], "entries": []}]},
        {"sections": [{**content["sections"][0], "ranks": 0}]},
        {"sections": [{**content["sections"][0], "machine": {}}]},
    ):  # fmt: skip
        texts.append(json.dumps({**content, **change}).encode())
    texts += [b"", b"[]", b"1", b"{}", b"[" * 150, b"\xef\xbb\xbf{}", b'"\\ud800"', good + b" x"]
    texts += [b"NaN", b'{"schema": NaN}', b"01", b"-", b"1.", b".5", b"1e", b"tru", b'"\\u00', b'"']
    paths = [tmp_path / f"{number}" for number in range(len(texts))]
    right = []
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(text)
        try:
            reader.load(str(path))
            right.append("0")
        except reader.WisdomError as error:
            right.append(str(CODES[type(error)]))
    assert driver.ask(program, [f"o {path}" for path in paths]) == right
    assert {"0", "3", "4"} == set(right)


def test_a_file_that_is_not_there(program: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing.json"
    assert driver.ask(program, [f"o {missing}"]) == ["1"]
    with pytest.raises(reader.UnreadableWisdom, match="No such file"):
        reader.load(str(missing))
    assert driver.ask(program, [f"o {tmp_path}"]) == ["1"]


@pytest.mark.parametrize("words", ["g++ -x c++ -std=c++11", "clang -std=c99", "gcc -std=c17 -O3"])
def test_the_reader_compiles_without_a_warning(words: str, tmp_path: Path) -> None:
    compiler, *flags = words.split()
    for name, content in readers.contents().items():
        (tmp_path / name).write_bytes(content)
    text = "#define AUTOTUNE_WISDOM_IMPLEMENTATION\n" + '#include "autotune_wisdom.h"\n' * 2
    (tmp_path / "one.c").write_text(text, encoding="utf-8")
    strict = ["-Wall", "-Wextra", "-pedantic", "-Wshadow", "-Wconversion", "-Werror"]
    try:
        subprocess.run(
            [compiler, *flags, *strict, "-c", "one.c", "-o", "one.o"], cwd=tmp_path, check=True
        )
    except FileNotFoundError:
        pytest.skip(f"optional: {compiler} is not installed")


def test_the_python_reader_needs_nothing_of_autotune(tmp_path: Path) -> None:
    source = readers.contents()["autotune_wisdom.py"].decode()
    imports = [line for line in source.splitlines() if line.startswith(("import", "from"))]
    assert all("autotune" not in line for line in imports)
    assert "1. Two sizes" in source
    header = readers.contents()["autotune_wisdom.h"].decode()
    rule = source[source.index("1. Two sizes") : source.index('"""\n\nfrom')]
    there = header[header.index("1. Two sizes") : header.index(" * Reading one wisdom")]
    assert there.replace("*", " ").split() == rule.split()
