"""Records are read strictly: what is wrong or missing is an error or is said, never passed over."""

import json
from dataclasses import replace

import pytest
from assertion_records import counted, figure_8, message, rank_record, written

from autotune.assertions.records import record_files, run_records
from autotune.assertions.records.run_records import ranks_in_words
from autotune.errors import InputError
from autotune.files import codec


def refusal(function):
    with pytest.raises(InputError) as caught:
        function()
    return str(caught.value)


def test_a_record_reads_back_as_it_was_written(tmp_path):
    records = [figure_8(0), figure_8(1)]
    folder = written(tmp_path / "records", records)
    run = run_records.read([folder])
    assert list(run.records) == records
    assert (run.missing, run.unfinished) == ((), ())
    assert run_records.read([*sorted(folder.iterdir())]).records == run.records


def test_a_truncated_file_is_an_error_that_names_the_place(tmp_path):
    folder = written(tmp_path, [figure_8(0), figure_8(1)])
    path = folder / "r1.1.json"
    path.write_text(path.read_text()[:-200])
    text = refusal(lambda: run_records.read([folder]))
    assert "r1.1.json:1:" in text
    assert "the file ends here" in text or "not JSON" in text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.update(schema="autotune.assertion-record/2"), "another version of autotune"),
        (lambda d: d.update(schema="autotune.config/1"), "schema 'autotune.config/1'"),
        (lambda d: d.pop("schema"), "no key 'schema'"),
        (lambda d: d["paths"][1].update(passes="2"), "paths.1.passes: text '2'; expected a whole"),
        (lambda d: d["paths"][1].update(kind="lop"), "did you mean loop?"),
        (lambda d: d["paths"][1].update(passed=2), "unknown key 'passed'"),
        (lambda d: d["paths"][1].pop("visits"), "no key 'visits'"),
        (lambda d: d["paths"][1].update(failures=-1), "failures: the number -1"),
        (lambda d: d["paths"][1].update(visits=0), "counts of a path without visits"),
        (lambda d: d["paths"][1].update(visits=999), "of 999 visits; expected a verdict on each"),
        (lambda d: d["paths"][1].update(parent=7), "its parent comes after it"),
        (lambda d: d["paths"][1].update(measured=True), "paths.1.measured: true"),
        (lambda d: d["paths"][1].update(differences=[[0]]), "a list of 1; expected a list of 2"),
        (lambda d: d.update(rank=2), "rank 2 of 2"),
        (lambda d: d.update(paths={}), "paths: keys and values; expected a list"),
    ],
)
def test_what_does_not_fit_is_an_error(tmp_path, change, words):
    content = codec.document(figure_8(0))
    change(content)
    path = tmp_path / "r1.0.json"
    path.write_text(json.dumps(content))
    assert words in refusal(lambda: record_files.read(path))


def test_messages_without_a_verdict_are_an_error(tmp_path):
    sent = replace(message(0, "send", "s", "8", [(8, 3)]), passes=1)
    folder = written(tmp_path, [rank_record([sent])])
    assert "verdicts on 1 of 3 messages" in refusal(lambda: run_records.read([folder]))


def test_not_a_number_is_no_count(tmp_path):
    path = tmp_path / "r1.0.json"
    text = json.dumps(codec.document(figure_8(0)))
    path.write_text(text.replace('"seconds": 0.5', '"seconds": NaN'))
    assert "seconds" in refusal(lambda: record_files.read(path))


def test_files_of_two_runs_are_refused_unless_one_is_chosen(tmp_path):
    later = replace(figure_8(0, 1), run="r2", started=1.8e9)
    folder = written(tmp_path, [figure_8(0, 1), later])
    text = refusal(lambda: run_records.read([folder]))
    assert "records of 2 runs: r1 (1 file, such as r1.0.json), r2" in text
    assert "--run r2 chooses the one that began last" in text
    assert run_records.read([folder], run="r2").first.run == "r2"
    assert "no record of run 'r3'" in refusal(lambda: run_records.read([folder], run="r3"))


def test_a_rank_with_two_files_is_refused(tmp_path):
    folder = written(tmp_path, [figure_8(0), figure_8(1)])
    copy = folder / "copy.json"
    copy.write_text((folder / "r1.1.json").read_text())
    text = refusal(lambda: run_records.read([folder]))
    assert "a second record of rank 1" in text
    assert "copy.json" in text


def test_ranks_that_disagree_on_their_number_are_refused(tmp_path):
    folder = written(tmp_path, [figure_8(0, 2), figure_8(1, 4)])
    assert "with 2 and 4 ranks" in refusal(lambda: run_records.read([folder]))


def test_a_rank_that_died_is_missing_and_one_rank_can_be_chosen(tmp_path):
    folder = written(tmp_path, [figure_8(0, 4), figure_8(2, 4)])
    run = run_records.read([folder])
    assert run.missing == (1, 3)
    assert run_records.read([folder], rank=2).records == (figure_8(2, 4),)
    assert "no record of rank 3; expected one of 0, 2" in refusal(
        lambda: run_records.read([folder], rank=3)
    )


def test_places_that_hold_no_records_are_errors(tmp_path):
    assert "there is no such file" in refusal(lambda: run_records.read([tmp_path / "gone"]))
    assert "no records in this folder" in refusal(lambda: run_records.read([tmp_path]))


def test_files_of_events_and_temporary_files_are_no_records(tmp_path):
    folder = written(tmp_path, [figure_8(0, 1)])
    (folder / "r1.0.events.jsonl").write_text("{}\n")
    (folder / ".r1.0.json.tmp").write_text("{")
    assert len(run_records.read([folder]).records) == 1


def test_as_many_paths_as_the_library_keeps_are_read(tmp_path):
    paths = [counted(k, "loop", f"l{k}", "n", [(1, 1)]) for k in range(4096)]
    folder = written(tmp_path, [rank_record(paths)])
    assert len(run_records.read([folder]).first.paths) == 4096


def test_ranks_are_named_by_spans():
    assert ranks_in_words((3,)) == "rank 3"
    assert ranks_in_words((0, 1, 2, 5, 7, 8)) == "ranks 0-2, 5, 7-8"
    assert ranks_in_words(tuple(range(0, 40, 2))).endswith("12 more")
