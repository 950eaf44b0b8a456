"""Descriptions of programs: what is wrong with one is said with its place and the nearest name."""

from pathlib import Path

import own_programs as own
import pytest

from autotune.commands.rank.ranked_space import load


def wrong(tmp_path: Path, old: str, new: str) -> str:
    """The faults of the sample with something replaced."""
    assert old in own.PROGRAM + own.CONFIG
    path = own.put(tmp_path, own.PROGRAM.replace(old, new), own.CONFIG.replace(old, new))
    return "\n".join(own.faults(path))


def test_the_sample_is_right(tmp_path: Path):
    path = own.put(tmp_path)
    assert own.faults(path) == []
    assert len(own.candidates(load(path).setup)) == 4


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("-DBLOCK={block}", "-DBLOCK={blok}", "tiny.yaml:4:34", "did you mean {block}?"),
        ('["{output}", "{n}"]', '["{outptu}", "{n}"]', "tiny.yaml:5:7", "did you mean {output}?"),
        ("-DBLOCK={block}", "-DBLOCK={threads}", "tiny.yaml:4", "those of a run"),
        ("-DBLOCK={block}", "-DBLOCK={block", "tiny.yaml:4", "a brace stands alone"),
        ("-DBLOCK={block}", "-DBLOCK=1", "tiny.yaml:9", "block is used by neither"),
        ("require: block < n", "require: blok < n", "tiny.yaml:11", "did you mean block?"),
        ("require: block < n", "require: block <", "tiny.yaml:11", "block <"),
        ("require: block < n", "require: open('x')", "tiny.yaml:11", "open"),
        ("sources: [tiny.c]", "sources: [tini.c]", "tiny.yaml:3:11", "did you mean tiny.c?"),
        ("arguments: {n: 500}", "arguments: {m: 500}", "study.yaml:4:25", "one of n"),
        ("program: tiny.yaml", "program: tinny.yaml", "study.yaml:3", "did you mean tiny.yaml?"),
        ("program: tiny.yaml", "program: matmull", "study.yaml:3", "did you mean matmul?"),
        ("baseline: {block: 8}", "baseline: {block: 7}", "tiny.yaml:13", "not one of its values"),
        ("size: n", "size: m", "tiny.yaml:7:1", "one of n"),
        ('"time (\\\\S+) s"', '"time"', "tiny.yaml:14", "0 groups"),
        ("parameters: {block:", "parameters: {output:", "tiny.yaml:9", "cannot be such a name"),
        ("[1, 2, 4, 8]", "[1, 8, 1000000000000000000000]", "tiny.yaml:9", "is beyond 1e+18"),
        ("[1, 2, 4, 8]", '[1, 8, "a\\0b"]', "tiny.yaml:9", "no command line can"),
        ('"{n}"]', '"{n}\\0"]', "tiny.yaml:5", "no command line can"),
        ("require: block < n", f"require: block < 1{19 * '0'}", "tiny.yaml:11", "at most 1e+18"),
        (
            "[{arguments: {n: 500}}]",
            f"[{{arguments: {{n: 1{16 * '0'}}}}}]",
            "study.yaml:4",
            "2**53",
        ),
    ],
)
def test_mistakes_have_a_place(tmp_path: Path, old: str, new: str, place: str, words: str):
    found = wrong(tmp_path, old, new)
    assert place in found
    assert words in found


def test_what_is_built_in_cannot_be_verified_at_another_value(tmp_path: Path):
    program = own.PROGRAM.replace("-DBLOCK={block}", '-DBLOCK={block}", "-DN={n}')
    found = own.faults(own.put(tmp_path, program + "verify: {n: 9}\n"))
    assert len(found) == 1
    assert "tiny.yaml:16:10" in found[0]
    assert "n is built in" in found[0]


def test_constraints_that_leave_nothing_say_which(tmp_path: Path):
    old = "constraints:\n"
    new = old + "  - {require: block > 2, reason: small}\n  - block * 2 < 8\n  - block != 9\n"
    found = wrong(tmp_path, old, new)
    assert "tiny.yaml:12" in found
    assert "leave nothing of 4 combinations with n = 500" in found
    assert "'block > 2' and 'block * 2 < 8' contradict one another" in found
    assert "'block > 2' leaves out 2; 'block * 2 < 8' leaves out 2" in found


def test_a_constraint_that_another_one_guards_may_take_the_last(tmp_path: Path):
    program = own.PROGRAM.replace("[1, 2, 4, 8]", "[null, 2, 8]").replace(
        "  - require: block < n\n    reason: a block is larger than all\n",
        "  - block != null\n  - block > 8 or threads > 1\n",
    )
    (found,) = own.faults(own.put(tmp_path, program))
    assert "leave nothing of 3 combinations with n = 500, threads = 1" in found
    assert "'block != null' leaves out 1; 'block > 8 or threads > 1' leaves out 2" in found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("threads: one", "threads: own"),
        ('check: {pattern: "sum (\\\\S+)"}', 'check: {pattern: "sum (\\\\S+)", tolerance: 0.1}'),
        ("size: n", "size: n\nfolder: ."),
        ("size: n", "size: n\nverify: {n: 9}"),
    ],
)
def test_what_decides_on_times_and_answers_is_part_of_what_a_program_is(
    tmp_path: Path, old: str, new: str
):
    assert old in own.PROGRAM
    first = load(own.put(tmp_path / "a")).setup.subject
    other = load(own.put(tmp_path / "a", own.PROGRAM.replace(old, new))).setup.subject
    elsewhere = load(own.put(tmp_path / "b", own.PROGRAM.replace(old, new))).setup.subject
    assert first.definition != other.definition == elsewhere.definition


def test_a_forbidden_baseline_is_told(tmp_path: Path):
    found = wrong(tmp_path, "constraints:\n", "constraints:\n  - block < 8\n")
    assert "the baseline is forbidden" in found
    assert "tiny.yaml:14" in found
