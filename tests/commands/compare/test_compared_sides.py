"""``autotune compare`` of two sides: studies, revisions, machines."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import revised_program
from command_line import Finished

Run = Callable[..., Finished]


def test_a_revision_with_twice_the_work_is_slower(autotune: Run, tmp_path: Path) -> None:
    config = revised_program.repository(tmp_path)
    revised_program.write(tmp_path, 7)
    done = autotune("compare", "--revisions", "first", "twice", config, "--page", "page.html")
    assert "first is " in done.out
    assert "faster than twice" in done.out
    assert "the winner is the same" in done.out
    assert "uncommitted work is in no revision: sum.c" in done.out
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "faster than twice" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert revised_program.git(tmp_path, "worktree", "list").count("\n") == 1


def test_the_working_tree_is_a_side(autotune: Run, tmp_path: Path) -> None:
    config = revised_program.repository(tmp_path)
    revised_program.write(tmp_path, 400)
    done = autotune("compare", "--revisions", "twice", ".", config, "--json")
    document = done.json()
    assert document["schema"] == "autotune.compare-sides/1"
    comparison = document["comparison"]
    assert isinstance(comparison, dict)
    (problem,) = comparison["problems"]
    (pair,) = problem["pairs"]
    assert pair["faster"] == "first"
    assert pair["ratio"]["high"] < 1


def test_candidates_of_two_builds_are_both_measured(autotune: Run, tmp_path: Path) -> None:
    config = revised_program.repository(tmp_path)
    both = "[{compiler: gcc, flags: [-O0]}, {compiler: gcc, flags: [-O2]}]"
    text = revised_program.CONFIG.replace("[{compiler: gcc, flags: [-O1]}]", both)
    config.write_text(text, encoding="utf-8")
    program = revised_program.PROGRAM.replace("[8, 64]", "[8]")
    (tmp_path / "sum.yaml").write_text(program, encoding="utf-8")
    revised_program.git(tmp_path, "commit", "-qam", "two builds")
    autotune("tune", config, "--exhaustive")
    revised_program.write(tmp_path, 200)
    document = autotune("compare", "--revisions", "HEAD", ".", config, "--json").json()
    (problem,) = document["comparison"]["problems"]
    for winner in problem["winners"]:
        assert "-O2" in str(winner["settings"])
        assert winner["speedup"] > 1.2, "the baseline, built with -O0, was measured as well"


def test_equal_revisions_have_nothing_to_measure(autotune: Run, tmp_path: Path) -> None:
    config = revised_program.repository(tmp_path)
    done = autotune("compare", "--revisions", "twice", "HEAD", config)
    assert "both revisions build the same programs" in done.out


def test_a_revision_without_the_config_or_that_does_not_build_is_a_result(
    autotune: Run, tmp_path: Path
) -> None:
    config = revised_program.repository(tmp_path)
    revised_program.git(tmp_path, "mv", "tuning.yaml", "other.yaml")
    (tmp_path / "sum.c").write_text("no C\n", encoding="utf-8")
    revised_program.git(tmp_path, "commit", "-qam", "broken")
    config.write_text(revised_program.CONFIG, encoding="utf-8")
    gone = autotune("compare", "--revisions", "first", "HEAD", config, check=1)
    assert "HEAD: tuning.yaml does not exist in this revision" in gone.out
    broken = autotune("compare", "--revisions", "HEAD", "first", "other.yaml", check=1)
    assert "first: other.yaml does not exist" in broken.out
    revised_program.git(tmp_path, "mv", "other.yaml", "tuning.yaml", "-f")
    revised_program.git(tmp_path, "commit", "-qam", "back")
    failed = autotune("compare", "--revisions", "first", "HEAD", "tuning.yaml", check=1)
    assert "HEAD: block" in failed.out
    assert "build-failed" in failed.out


def test_a_source_folder_outside_of_the_revision_is_refused(autotune: Run, tmp_path: Path) -> None:
    config = revised_program.repository(tmp_path)
    text = f"source_folder: {tmp_path}\n" + revised_program.PROGRAM
    (tmp_path / "sum.yaml").write_text(text, encoding="utf-8")
    revised_program.git(tmp_path, "commit", "-qam", "absolute")
    done = autotune("compare", "--revisions", "first", "HEAD", config, check=1)
    assert "is a path outside of the revision" in done.out


def test_two_studies_name_the_winner_and_what_is_not_comparable(
    autotune: Run, tmp_path: Path
) -> None:
    config = revised_program.repository(tmp_path)
    revised_program.write(tmp_path, 50)
    autotune("tune", config, "--exhaustive")
    revised_program.write(tmp_path, 400)
    autotune("tune", config, "--exhaustive", "--store", "other.sqlite")
    done = autotune("compare", "sum", "sum@other.sqlite", "other.sqlite")
    assert done.out.count("sum is ") == 2
    assert "the sources of the program, or what its file says, differ" in done.out
    assert "is assumed and part of the interval" in done.out
    text = revised_program.PROGRAM.replace('run: ["{output}"]', 'run: ["{output}", "{n}"]')
    text += "arguments: {n: 1}\n"
    (tmp_path / "sum.yaml").write_text(text, encoding="utf-8")
    autotune("tune", config, "--exhaustive", "--store", "third.sqlite")
    other = autotune("compare", "sum", "third.sqlite", check=1)
    assert "another amount of work: n = none and 1" in other.out
    unknown = autotune("compare", "sum", "summ", check=2)
    assert "did you mean sum?" in unknown.err


def test_two_machines_by_what_is_predicted(autotune: Run, config: Path) -> None:
    machines = ("haswell-e5-2630v3", "chimaira-i7-4770")
    done = autotune("compare", "--machines", *machines, config, "--json")
    comparison = json.loads(done.out)["comparison"]
    (problem,) = comparison["problems"]
    assert [winner["side"] for winner in problem["winners"]] == list(machines)
    (pair,) = problem["pairs"]
    assert pair["basis"] == "predicted, not measured: no interval is known"
    assert pair["explanation"]
    shown = autotune("compare", "--machines", *machines, config)
    assert "predicted part" in shown.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--revisions", "first", "first", "tuning.yaml"), "names first twice"),
        (("--revisions", "first", "twice"), "needs one CONFIG"),
        (("sum", "--page", "x.html"), "for two sides or more"),
        (("--revisions", "first", "twic", "tuning.yaml"), "did you mean twice?"),
    ],
)
def test_wrong_sides_are_named(
    autotune: Run, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    revised_program.repository(tmp_path)
    done = autotune("compare", *words, check=2)
    assert said in " ".join(done.err.split())


def test_after_ctrl_c_no_worktree_is_left(tmp_path: Path) -> None:
    config = revised_program.repository(tmp_path)
    revised_program.write(tmp_path, 1)
    words = ["compare", "--revisions", "first", "twice", str(config)]
    process = subprocess.Popen(
        [sys.executable, "-m", "autotune", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    until = time.monotonic() + 60
    while revised_program.git(tmp_path, "worktree", "list").count("\n") < 2:
        assert time.monotonic() < until
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert revised_program.git(tmp_path, "worktree", "list").count("\n") == 1
    assert (tmp_path / "sum.c").read_text(encoding="utf-8").count("PASSES 1\n") == 1


def test_a_source_in_a_submodule_is_missing_with_the_reason(autotune: Run, tmp_path: Path) -> None:
    config = revised_program.repository(tmp_path)
    source = tmp_path / "sub" / "src"
    source.mkdir(parents=True)
    (tmp_path / "sum.c").rename(source / "sum.c")
    stated = revised_program.PROGRAM + "source_folder: sub/src\n"
    (tmp_path / "sum.yaml").write_text(stated, encoding="utf-8")
    modules = '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n'
    (tmp_path / ".gitmodules").write_text(modules, encoding="utf-8")
    (tmp_path / ".gitignore").write_text("sub\n", encoding="utf-8")
    revised_program.git(tmp_path, "add", "-A")
    revised_program.git(tmp_path, "commit", "-qm", "a submodule")
    done = autotune("compare", "--revisions", "HEAD", ".", config, check=1)
    assert "sub is a submodule" in " ".join(f"{done.out} {done.err}".split())
