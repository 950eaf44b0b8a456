"""``autotune check``: verdicts on a real program whose second revision does twice the work."""

import json
import shutil
import sqlite3
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
import revised_program
from command_line import Finished

from autotune.toolchain.git_worktrees import GitRepository

Run = Callable[..., Finished]


def test_a_revision_that_does_twice_the_work_is_a_regression(autotune: Run, tmp_path: Path) -> None:
    config = revised_program.repository(tmp_path)
    reports = ("--junit", "time.xml", "--markdown", "time.md")
    done = autotune("check", config, "--against-revision", "first", *reports, check=1)
    assert "regression: slower by more than 3 % in 1 problem of 1" in done.out
    assert "old and new built and launched in turn" in done.out
    assert "would have been proven" in done.out
    suite = ElementTree.parse(tmp_path / "time.xml").getroot()
    assert (suite.get("failures"), suite.get("errors")) == ("1", "0")
    assert "| sum |" in (tmp_path / "time.md").read_text(encoding="utf-8")
    assert revised_program.git(tmp_path, "worktree", "list").count("\n") == 1


def test_half_the_work_is_no_regression(
    autotune: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = revised_program.repository(tmp_path)
    revised_program.write(tmp_path, 50)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    document = autotune("check", config, "--against-revision", "twice", "--json").json()
    assert document["schema"] == "autotune.check/1"
    assert document["passes"] is True
    check = document["check"]
    assert isinstance(check, dict)
    (problem,) = check["problems"]
    assert (problem["outcome"], problem["way"]) == ("within", "revision")
    assert problem["reading"]["slowdown"]["high"] < 1.03
    assert len(problem["samples"]["new"]) == problem["reading"]["slowdown"]["rounds"]
    assert any("1 files not committed" in note for note in check["notes"])
    assert "## Run time: no regression" in (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_against_a_study_the_kept_program_then_the_stored_times(
    autotune: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = revised_program.repository(tmp_path)
    revised_program.write(tmp_path, 50)
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))
    autotune("tune", config, "--exhaustive")
    same = autotune("check", config, "--against", "sum")
    assert "byte for byte" in same.out
    revised_program.write(tmp_path, 400)
    kept = autotune("check", config, "--against", "sum", check=1)
    assert "kept in the build cache" in kept.out
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "other"))
    stored = autotune("check", config, "--against", "sum", "--rounds", "4", check=1)
    assert "the times of the study, taken in another run" in stored.out
    assert "against the baseline" in stored.out or "block=8" in stored.out or "block8" in stored.out


def test_what_does_not_build_fails_and_what_did_not_is_not_compared(
    autotune: Run, tmp_path: Path
) -> None:
    config = revised_program.repository(tmp_path)
    (tmp_path / "sum.c").write_text("no C\n", encoding="utf-8")
    new = autotune("check", config, "--against-revision", "first", "--junit", "x.xml", check=1)
    assert "FAILED" in new.out
    assert "build-failed" in new.out
    assert ElementTree.parse(tmp_path / "x.xml").getroot().get("errors") == "1"
    revised_program.git(tmp_path, "commit", "-qam", "broken")
    revised_program.write(tmp_path, 50)
    old = autotune("check", config, "--against-revision", "HEAD")
    assert "NOT COMPARED" in old.out
    assert "nothing was compared: the check proves nothing" in old.out
    assert "revision HEAD: build-failed" in old.out


@pytest.mark.parametrize("changed", ["run", "environment"])
def test_one_program_that_is_run_otherwise_is_compared(
    autotune: Run, tmp_path: Path, changed: str
) -> None:
    config = revised_program.repository(tmp_path)
    same = autotune("check", config, "--against-revision", "twice")
    assert "both are one program" in same.out
    if changed == "run":
        text = revised_program.PROGRAM.replace('run: ["{output}"]', 'run: ["{output}", "all"]')
        (tmp_path / "sum.yaml").write_text(text, encoding="utf-8")
    else:
        config.write_text(f"{revised_program.CONFIG}environment: {{A: b}}\n", encoding="utf-8")
    done = autotune("check", config, "--against-revision", "twice", "--rounds", "3")
    assert "both are one program" not in done.out
    assert "old and new built and launched in turn" in done.out


def test_another_result_is_not_compared(autotune: Run, tmp_path: Path) -> None:
    config = revised_program.repository(tmp_path)
    text = (tmp_path / "sum.c").read_text(encoding="utf-8")
    (tmp_path / "sum.c").write_text(text.replace("p < 50", "p < 5"), encoding="utf-8")
    done = autotune("check", config, "--against-revision", "first", "--rounds", "3")
    assert "another result, and so perhaps another amount of work" in done.out


def test_times_of_another_host_prove_nothing(autotune: Run, tmp_path: Path) -> None:
    config = revised_program.repository(tmp_path)
    autotune("tune", config, "--exhaustive")
    with sqlite3.connect(tmp_path / "autotune-results.sqlite") as store:
        text = "replace(conditions, '\"node\"', '\"before\"')"
        changed = store.execute(f"update runs set conditions = {text}").rowcount
    assert changed == 1
    revised_program.write(tmp_path, 400)
    done = autotune("check", config, "--against", "sum")
    assert "NOT COMPARED" in done.out
    assert "--against-revision REV" in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--against", "summ"), "did you mean sum?"),
        (("--against-revision", "firts"), "did you mean first?"),
        (("--against-revision", "first", "--max-slowdown", "much"), "is not a share"),
        (
            ("--against-revision", "first", "--max-slowdown", "3"),
            "would be 300 %: write 3% or 0.03",
        ),
        (("--against-revision", "first", "--false-alarms", "0"), "between 0 and 100 %"),
        ((), "names nothing to compare with"),
    ],
)
def test_wrong_input_is_named(
    autotune: Run, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    config = revised_program.repository(tmp_path)
    if "summ" in words:
        autotune("tune", config, "--exhaustive")
    done = autotune("check", config, *words, check=2)
    assert said in " ".join(done.err.split())


def test_a_config_outside_of_a_repository_is_refused(autotune: Run, tmp_path: Path) -> None:
    (tmp_path / "sum.yaml").write_text(revised_program.PROGRAM, encoding="utf-8")
    (tmp_path / "tuning.yaml").write_text(revised_program.CONFIG, encoding="utf-8")
    revised_program.write(tmp_path, 1)
    done = autotune("check", "tuning.yaml", "--against-revision", "HEAD", check=2)
    assert "it lies in no git repository" in done.err


# --- worktrees ----------------------------------------------------------------------------------


def test_worktrees_are_removed_also_after_an_interruption(tmp_path: Path) -> None:
    config = revised_program.repository(tmp_path)
    repository = GitRepository.of(config)
    revision = repository.revision("first", "--revisions")
    assert revision.subject == "50 passes"
    folders = []

    def interrupted() -> None:
        with repository.checked_out(revision) as folder:
            folders.append(folder)
            assert "PASSES 50" in (folder / "sum.c").read_text(encoding="utf-8")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not folders[0].exists()
    assert revised_program.git(tmp_path, "worktree", "list").count("\n") == 1
    assert "PASSES 100" in (tmp_path / "sum.c").read_text(encoding="utf-8")


def test_worktrees_of_killed_processes_are_removed_and_those_of_the_user_kept(
    tmp_path: Path,
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    repository = GitRepository.of(revised_program.repository(project))
    absent = (tmp_path / "autotune-revision-killed" / "project", tmp_path / "on a disk")
    for folder in absent:
        revised_program.git(project, "worktree", "add", "-q", "--detach", str(folder), "first")
        shutil.rmtree(folder)
    with repository.checked_out(repository.revision("first", "--revisions")):
        pass
    left = revised_program.git(project, "worktree", "list")
    assert "autotune-revision-killed" not in left
    assert "on a disk" in left


def test_uncommitted_files_are_named(tmp_path: Path) -> None:
    repository = GitRepository.of(revised_program.repository(tmp_path))
    assert repository.uncommitted() == ()
    revised_program.write(tmp_path, 7)
    (tmp_path / "new näme.c").write_text("", encoding="utf-8")
    assert sorted(repository.uncommitted()) == ["new näme.c", "sum.c"]
    assert "2 files not committed" in repository.revision(".", "--revisions").words


def test_a_document_has_every_launch(autotune: Run, tmp_path: Path) -> None:
    config = revised_program.repository(tmp_path)
    done = autotune("check", config, "--against-revision", "first", "--json", check=1)
    (problem,) = json.loads(done.out)["check"]["problems"]
    assert set(problem["samples"]) == {"new", "old"}
    assert all(value > 0 for values in problem["samples"].values() for value in values)
