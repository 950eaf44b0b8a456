"""The store gives back what was entered, once, and refuses what is not its own."""

import json
import sqlite3
import threading
from pathlib import Path

import fabricated as fake
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autotune.domain.results import Prepared
from autotune.errors import StoreError
from autotune.files import codec
from autotune.files.store import Store, StoredChoice, StudyOrigin, store_place
from autotune.files.store.store_tables import SCHEMA
from autotune.version import VERSION


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "results.sqlite"


@pytest.fixture
def store(path: Path):
    with Store.open(path) as opened:
        yield opened


def begin(store: Store, name: str = "study") -> tuple[str, fake.Candidate]:
    one = fake.candidate()
    store.begin_study(
        name, StudyOrigin(config="quickstart", setup_text="text", versions={"autotune": "0.1"})
    )
    store.add_candidates(name, [one], baselines=[one.identity])
    return store.begin_run(name, fake.facts()), one


def message(caught: pytest.ExceptionInfo[StoreError]) -> str:
    return str(caught.value)


# --- round trips ----------------------------------------------------------------------------


def test_everything_comes_back(store):
    run, one = begin(store)
    store.add_predictions("study", fake.ranked([(one, fake.prediction())]))
    store.add_choices(run, [StoredChoice(candidate=one.identity, place=0, reason="the baseline")])
    store.add_prepared(run, Prepared(candidate=one, status="ok", error=1e-16, build="key"))
    store.add_sample(run, one.identity, 0, fake.sample(warm_up=True))
    store.add_sample(run, one.identity, 1, fake.sample(2e-3, undisturbed=False, busy=0.5))
    store.add_outcome(run, one.identity, "contended", "other processes", (1.0, 2.0))
    store.end_run(run, timings={"run": 1.5})

    study = store.load_study("study")
    (record,) = study.candidates
    assert record.id == one.id
    assert record.baseline
    assert record.parameters == one.variant.parameters
    assert record.problem.components == 256**2
    assert study.prediction(one.identity) == fake.prediction()
    (found,) = study.runs
    assert found.machine == fake.machine()
    assert (found.state, found.timings) == ("done", {"run": 1.5})
    assert found.choices[0].reason == "the baseline"
    assert found.checksums == {one.identity: (1.0, 2.0)}
    assert found.finished == frozenset(), "a contended candidate goes back to the queue"
    measurement = found.measurement(one.identity)
    assert measurement is not None
    assert measurement.samples == (
        fake.sample(warm_up=True),
        fake.sample(2e-3, undisturbed=False, busy=0.5),
    )
    assert (measurement.status, measurement.detail) == ("contended", "other processes")
    assert (measurement.verified, measurement.error) == (True, 1e-16)


@pytest.mark.parametrize(
    ("error", "status", "verified"),
    [(0.0, "ok", True), (None, "ok", False), (0.0, "wrong-result", False)],
)
def test_verified_is_what_was_compared_and_is_right(store, error, status, verified):
    """Without a check nothing is compared; the timed result may be wrong after a right one."""
    run, one = begin(store)
    store.add_prepared(run, Prepared(candidate=one, status="ok", error=error))
    store.add_sample(run, one.identity, 0, fake.sample())
    store.add_outcome(run, one.identity, status)
    (measurement,) = store.load_study("study").runs[0].measurements
    assert (measurement.verified, measurement.error) == (verified, error)


def test_a_title_or_a_comment_is_no_other_configuration(store):
    text = "title: a\nthreads: [1]\n\n# definitions: 1 2\n"
    store.begin_study("study", StudyOrigin(config="c", setup_text=text))
    store.begin_study(
        "study", StudyOrigin(config="c", setup_text="# new\n" + text.replace("a", "b", 1))
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[1]", "[1, 2]", "of threads"),
        ("threads", "ranks", "of threads, ranks"),
        ("1 2", "1 3", "of the definitions that it names"),
    ],
)
def test_keys_that_differ_from_the_configuration_are_named(store, old, new, said):
    text = "title: a\nthreads: [1]\n\n# definitions: 1 2\n"
    store.begin_study("study", StudyOrigin(config="c", setup_text=text))
    with pytest.raises(StoreError) as caught:
        store.begin_study("study", StudyOrigin(config="c", setup_text=text.replace(old, new, 1)))
    assert f"another content {said}" in message(caught)


def test_labels_are_the_same_before_and_after_in_whatever_order_parameters_were_kept(path, store):
    _, one = begin(store)
    with sqlite3.connect(path) as base:
        (text,) = base.execute("select record from candidates").fetchone()
    record = json.loads(text)
    assert list(record["parameters"]) == list(one.parameters)
    record["parameters"] = dict(reversed(record["parameters"].items()))
    for kept in (text, json.dumps(record)):
        with sqlite3.connect(path) as base:
            base.execute("update candidates set record = ?", (kept,))
        (stored,) = store.load_study("study").candidates
        assert (stored.label, stored.variant, stored.id) == (one.label, "jli-pad5", one.id)


def test_candidates_have_names_in_a_store(store):
    _, one = begin(store)
    sorted_by_name = f"pad5-jli@heat2d-N256-T2:{one.identity[:5]}"
    for name in (one.id, one.label, one.identity, "jli-pad5", "pad5-jli", sorted_by_name):
        assert [record.identity for record in store.named_candidates(name)] == [one.identity]
    for name in ("jli-pad4", f"{one.label}:0000", "ijl-pad5@heat2d-N256-T2"):
        assert store.named_candidates(name) == ()


def test_uncalibrated_machine_comes_back(store):
    store.begin_study("study", StudyOrigin(config="c", setup_text=""))
    store.begin_run("study", fake.facts(calibrated=False))
    assert store.load_study("study").runs[0].machine == fake.machine(calibrated=False)


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    seconds=st.floats(min_value=1e-300, max_value=1e300),
    conditions=st.dictionaries(
        st.text(), st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text()
    ),
)
def test_any_sample_survives_as_text(seconds, conditions):
    one = fake.sample(seconds, conditions=conditions)
    assert codec.load(type(one), codec.dump(one)) == one


def test_compiler_text_may_hold_anything(store):
    run, one = begin(store)
    store.add_outcome(run, one.identity, "crashed", "zero \0 and lone \ud800 surrogate")
    detail = store.load_study("study").runs[0].measurements[0].detail
    assert detail.startswith("zero \ufffd and lone")


def test_samples_without_an_outcome_count_for_what_they_are(store):
    run, one = begin(store)
    assert store.load_study("study").runs[0].measurements == ()
    store.add_sample(run, one.identity, 0, fake.sample(undisturbed=False))
    found = store.load_study("study").runs[0]
    assert found.measurements[0].status == "ok"
    assert found.measurements[0].disturbed == 1
    assert found.finished == frozenset()
    assert (found.ended, found.state) == (None, "running")


def test_runs_stay_apart_and_in_order(store):
    first, one = begin(store)
    second = store.begin_run("study", fake.facts())
    store.add_sample(second, one.identity, 0, fake.sample(2e-3))
    store.add_sample(first, one.identity, 0, fake.sample(1e-3))
    runs = store.load_study("study").runs
    assert [run.id for run in runs] == [first, second]
    assert [run.measurements[0].samples[0].seconds for run in runs] == [1e-3, 2e-3]


# --- writing twice --------------------------------------------------------------------------


def test_nothing_is_doubled(store):
    run, one = begin(store)
    for _ in range(2):
        store.begin_study("study", StudyOrigin(config="quickstart", setup_text="text"))
        store.add_candidates("study", [one], baselines=[one.identity])
        store.add_predictions("study", fake.ranked([(one, fake.prediction())]))
        store.add_sample(run, one.identity, 0, fake.sample())
        store.add_outcome(run, one.identity, "ok")
    study = store.load_study("study")
    assert len(study.candidates) == len(study.predictions) == len(study.runs) == 1
    assert len(study.runs[0].measurements[0].samples) == 1


def test_a_different_sample_in_the_same_place_is_refused(store):
    run, one = begin(store)
    store.add_sample(run, one.identity, 0, fake.sample(1e-3))
    with pytest.raises(ValueError, match="another sample"):
        store.add_sample(run, one.identity, 0, fake.sample(2e-3))


def test_a_later_prediction_replaces(store):
    _, one = begin(store)
    store.add_predictions("study", fake.ranked([(one, fake.prediction(1e-3))]))
    store.add_predictions(
        "study", fake.ranked([(one, fake.prediction(None, reason="no loop found"))])
    )
    store.add_predictions("study", fake.ranked([(one, fake.prediction(3e-3, engine="kerncraft"))]))
    study = store.load_study("study")
    assert study.prediction(one.identity, "reuse").reason == "no loop found"
    assert study.prediction(one.identity, "kerncraft").seconds == 3e-3


def test_another_configuration_under_the_same_name_is_refused(store):
    begin(store)
    with pytest.raises(StoreError) as caught:
        store.begin_study("study", StudyOrigin(config="quickstart", setup_text="other"))
    assert "another content" in message(caught)
    assert store.unused_name("study") == "study-2"
    assert store.unused_name("other") == "other"


def test_latest_study(store):
    assert store.latest_study() is None
    begin(store, "a")
    store.begin_study("b", StudyOrigin(config="other", setup_text=""))
    assert store.latest_study() == "b"
    assert store.latest_study("quickstart") == "a"
    assert store.latest_study("nothing") is None
    assert [s.runs for s in store.studies()] == [1, 0]


def test_unknown_study_names_the_nearest(store):
    begin(store, "quickstart")
    with pytest.raises(StoreError) as caught:
        store.load_study("quikstart")
    assert "did you mean quickstart?" in message(caught)


# --- what is not a store --------------------------------------------------------------------


def test_absent_store(path):
    with pytest.raises(StoreError) as caught:
        Store.open(path, create=False)
    assert str(path) in message(caught)
    assert "autotune tune" in message(caught)
    assert not path.parent.exists()


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "is empty"),
        (b"schema: autotune.config/1\n", "not a SQLite file"),
        (bytes(range(256)) * 20, "not a SQLite file"),
        (b"SQLite format 3\0", "cut off"),
        (b"SQLite format 3\0" + bytes(4080), "another program"),
    ],
)
def test_foreign_files(tmp_path, content, found):
    path = tmp_path / "x.sqlite"
    path.write_bytes(content)
    with pytest.raises(StoreError) as caught:
        Store.open(path)
    assert str(path) in message(caught)
    assert found in message(caught)
    assert "--store" in message(caught)
    assert path.read_bytes() == content


def test_a_database_of_another_program(tmp_path):
    path = tmp_path / "x.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE trials (id INTEGER)")
    with pytest.raises(StoreError) as caught:
        Store.open(path)
    assert "another program" in message(caught)


def test_a_store_of_another_schema(path, store):
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE autotune_meta SET value = '99' WHERE key = 'schema'")
        connection.execute("UPDATE autotune_meta SET value = '7.8.9' WHERE key = 'version'")
    with pytest.raises(StoreError) as caught:
        Store.open(path)
    assert f"schema 99; expected schema {SCHEMA}" in message(caught)
    assert f"a later autotune than this one, {VERSION}, began it" in message(caught)
    assert "name another with --store FILE" in message(caught)


def test_damaged_pages(path, store):
    fake.fill(store)
    store.close()
    content = bytearray(path.read_bytes())
    content[8192 : len(content) // 2] = b"\xa5" * (len(content) // 2 - 8192)
    path.write_bytes(content)
    with pytest.raises(StoreError) as caught:
        Store.open(path)
    assert "corrupt" in message(caught)


def test_a_cut_off_store(path, store):
    fake.fill(store)
    store.close()
    path.write_bytes(path.read_bytes()[:6000])
    with pytest.raises(StoreError) as caught:
        Store.open(path)
    assert str(path) in message(caught)


def test_a_folder_is_not_a_store(tmp_path):
    with pytest.raises(StoreError) as caught:
        Store.open(tmp_path)
    assert "directory" in message(caught)


def test_a_path_below_a_file(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError) as caught:
        Store.open(tmp_path / "file" / "x.sqlite")
    assert "cannot be created" in message(caught)


@pytest.mark.parametrize("location", ["mysql://u:secret@h/d", "http://x", ""])
def test_other_locations_are_refused(location):
    with pytest.raises(StoreError) as caught:
        Store.open(location)
    assert "--store" in message(caught)
    assert "secret" not in message(caught)


# --- places -----------------------------------------------------------------------------------

MOUNTS = r"""21 1 8:1 / / rw - ext4 /dev/sda1 rw
22 21 0:30 / /home rw - nfs4 server:/home rw
23 22 8:2 / /home/me/scratch\040disk rw - xfs /dev/sdb1 rw
24 21 0:31 / /gone rw - nfs server:/x rw
25 21 0:32 / /gone rw - tmpfs tmpfs rw
"""


def test_network_file_systems_are_refused():
    with pytest.raises(StoreError) as caught:
        store_place.check_folder(Path("/home/me/x.sqlite"), MOUNTS)
    text = message(caught)
    assert "nfs4, mounted at /home" in text
    assert "--store /tmp/" in text
    assert "--store postgresql://" in text


@pytest.mark.parametrize("path", ["/x.sqlite", "/gone/x.sqlite", "/homestead/x.sqlite"])
def test_local_file_systems_are_taken(path):
    store_place.check_folder(Path(path), MOUNTS)


def test_mount_points_with_blanks(tmp_path):
    inside = tmp_path / "local disk"
    inside.mkdir()
    mounts = f"1 0 0:1 / {tmp_path} rw - nfs a rw\n"
    with pytest.raises(StoreError):
        store_place.check_folder(inside / "x.sqlite", mounts)
    escaped = str(inside).replace(" ", r"\040")
    store_place.check_folder(inside / "x.sqlite", mounts + f"2 1 0:2 / {escaped} rw - ext4 b rw\n")


def test_urls():
    assert store_place.parsed_place("sqlite:////tmp/x.sqlite").path == Path("/tmp/x.sqlite")
    server = store_place.parsed_place("postgresql://me:pw@host/db")
    assert server.path is None
    assert server.url == "postgresql+psycopg://me:pw@host/db"
    assert server.shown == "postgresql://me:***@host/db"


# --- several writers ----------------------------------------------------------------------


def test_a_lock_that_lasts_is_explained(path, store):
    run, one = begin(store)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with Store.open(path, wait=0.2) as second, pytest.raises(StoreError) as caught:
        second.add_sample(run, one.identity, 0, fake.sample())
    other.execute("ROLLBACK")
    assert "another process has been writing" in message(caught)
    store.add_sample(run, one.identity, 0, fake.sample())


def test_threads_share_a_store(store):
    run, one = begin(store)

    def work(launch: int) -> None:
        for number in range(10):
            store.add_sample(run, one.identity, number, fake.sample(launch=launch))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.load_study("study").runs[0].measurements[0].samples) == 40
