"""What decides that a result is right: a stated value, a file, a command; fresh arguments."""

from pathlib import Path

import own_programs as own
import pytest

from autotune.workloads.program.measuring.check_answers import compare, written_file

CONFIG = own.CONFIG.replace("builds: [{compiler: gcc, flags: [-O1]}]\n", "").replace(
    "{n: 500}", "{}"
)
PROGRAM = """\
schema: autotune.program/1
title: A result to check
sources: [tiny.py]
run: ["{python}", "{source folder}/tiny.py", "{mode}", "{seed}"]
arguments: {seed: 1}
parameters: {mode: [right, near, wrong]}
check: CHECK
"""
SCRIPT = """\
import sys
mode, seed = sys.argv[1], int(sys.argv[2])
value = seed * {"right": 40.0, "near": 40.0 + 1e-7, "wrong": 41.0}[mode]
print("sum", repr(value))
open("out.txt", "w").write(f"1.0, {value!r}\\nend\\n")
"""


def statuses(
    tmp_path: Path, check: str, more: str = "", script: str = SCRIPT
) -> dict[str, tuple[str, str, float | None]]:
    """Mode to status, detail and error of its verification."""
    program = PROGRAM.replace("CHECK", check) + more
    path = own.put(tmp_path, program, CONFIG, {"tiny.py": script})
    assert not own.faults(path)
    _, measurer, named = own.opened(path)
    made = {mode: measurer.prepare(candidate) for mode, candidate in named.items()}
    return {mode: (p.status, p.detail, p.error) for mode, p in made.items()}


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (
            '{pattern: "sum (.*)", value: 40, tolerance: 1e-6}',
            "the check value is 41.0, the right one is 40.0: they differ by 0.025",
        ),
        (
            "{file: out.txt, tolerance: 1e-6}",
            "word 2 of the file out.txt is '41.0', that of the baseline '40.0': they differ by 0.0",
        ),
        (
            '{command: [grep, -q, "sum 40", "{printed}"]}',
            "the check says no: exit code 1",
        ),
        (
            '{command: ["{python}", -c, "import sys; sys.exit(float(open(\'out.txt\').read()'
            '.split()[1]) > 40.5)"]}',
            "the check says no: exit code 1",
        ),
    ],
)
def test_a_wrong_result_is_found(tmp_path: Path, check: str, words: str) -> None:
    made = statuses(tmp_path, check)
    assert made["right"] == ("ok", "", 0.0)
    assert made["near"][:2] == ("ok", "")
    status, detail, _ = made["wrong"]
    assert status == "wrong-result"
    assert words in detail


@pytest.mark.parametrize("value", ["true", '"true"'])
def test_truth_values_of_json_are_compared_as_json_writes_them(tmp_path: Path, value: str) -> None:
    script = SCRIPT + 'import json\nprint(json.dumps({"ok": mode == "right"}))\n'
    outcomes = statuses(tmp_path, f"{{json: ok, value: {value}}}", script=script)
    assert outcomes["right"][0] == "ok"
    wrong = "the check value is 'false', the right one is 'true'"
    assert outcomes["wrong"][:2] == ("wrong-result", wrong)


def test_near_is_not_the_same_without_a_tolerance(tmp_path: Path) -> None:
    made = statuses(tmp_path, "{file: out.txt, tolerance: 0}")
    assert {mode: status for mode, (status, _, _) in made.items()} == {
        "right": "ok", "near": "wrong-result", "wrong": "wrong-result",
    }  # fmt: skip


def test_a_run_that_writes_no_file_is_unreadable(tmp_path: Path) -> None:
    made = statuses(tmp_path, "{file: other.txt}")
    assert made["right"][0] == "unreadable"
    assert "wrote no file other.txt: No such file" in made["right"][1]


def test_files_are_compared_word_by_word(tmp_path: Path) -> None:
    def compared(first: bytes, second: bytes) -> str:
        for name, content in (("a", first), ("b", second)):
            (tmp_path / name).write_bytes(content)
        return compare(written_file(tmp_path / "a"), written_file(tmp_path / "b"), 1e-6).fault

    assert compared(b"x 1.0000001;2", b"x 1 2") == ""
    assert compared(b"1e-9 1", b"0 1") == "", "relative to the largest number"
    assert "has 3 words, that of the baseline 2" in compared(b"1 2 3", b"1 2")
    assert "word 1 of the file a is 'x'" in compared(b"x 2", b"1 2")
    assert "word 1 of the file a is 'nan'" in compared(b"nan 2", b"1 2")
    assert "is not the same" in compared(b"\xff\x00", b"\xff\x01")
    assert compared(b"\xff\x00", b"\xff\x00") == ""


FRESH = """\
import sys
mode, seed = sys.argv[1], int(sys.argv[2])
print("sum", 40 if mode == "wrong" else 40 * seed)
"""


def test_arguments_are_drawn_that_no_candidate_knows(tmp_path: Path) -> None:
    """A candidate that knows the result of seed 1 is found out by another seed."""
    check = '{pattern: "sum (.*)"}'
    assert statuses(tmp_path, check, script=FRESH)["wrong"][0] == "ok"
    made = statuses(tmp_path, check, "verify: {seed: {from: 2, to: 4000, step: 1}}\n", FRESH)
    assert made["right"][0] == made["near"][0] == "ok"
    assert made["wrong"][0] == "wrong-result"
    assert made["wrong"][1].startswith("seed = ")


ENVIRONMENT = """\
import os, sys
names = sorted(f"{k}={v}" for k, v in os.environ.items() if k not in ("PWD", "OLDPWD"))
print("sum", "|".join(names))
"""


def test_no_variable_tells_a_timed_run_from_a_verified_one(tmp_path: Path) -> None:
    program = PROGRAM.replace("CHECK", '{pattern: "sum (.*)"}') + "threads: openmp\n"
    path = own.put(tmp_path, program, CONFIG, {"tiny.py": ENVIRONMENT})
    _, measurer, named = own.opened(path)
    prepared = measurer.prepare(named["right"])
    assert prepared.status == "ok"
    launch = measurer.launch(
        prepared, round_number=0, launch=0, expected=None, on_sample=lambda sample: None
    )
    assert (launch.status, launch.detail) == ("ok", "")


@pytest.mark.parametrize(
    ("check", "more", "words"),
    [
        ("{file: out.txt, value: 1}", "", "value goes with pattern, json or csv"),
        ("{file: out.txt}", "folder: .\n", "no key folder"),
        ("{command: [diff, a, '{prnted}']}", "", "did you mean {printed}?"),
        ("{tolerance: 0.1}", "", "one of pattern, json, csv, file and command"),
        ("{command: [diff], file: x}", "", "one of pattern, json, csv, file and command"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, check: str, more: str, words: str) -> None:
    program = PROGRAM.replace("CHECK", check) + more
    path = own.put(tmp_path, program, CONFIG, {"tiny.py": SCRIPT})
    assert words in "\n".join(own.faults(path))


def test_a_source_that_is_named_without_its_folder_is_shown_with_it(tmp_path: Path) -> None:
    program = PROGRAM.replace("{source folder}/tiny.py", "tiny.py").replace("check: CHECK\n", "")
    path = own.put(tmp_path, program, CONFIG, {"tiny.py": SCRIPT})
    _, measurer, named = own.opened(path)
    prepared = measurer.prepare(named["right"])
    assert prepared.status == "crashed"
    assert prepared.detail.startswith("exit code 2")
    hint = "runs begin in a fresh folder: write {source folder}/tiny.py"
    assert prepared.detail.endswith(f"tiny.py is a source, and {hint}")
