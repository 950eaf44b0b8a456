"""What a store says of runs: what they finished, of other studies too, and how they end.

Every row is entered by the methods of the store and read back by them.
"""

from pathlib import Path

import fabricated as fake
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autotune.domain.results import Measurement, Prepared
from autotune.errors import StoreError
from autotune.files.store import Store, StoredChoice, StudyOrigin, store_engine, store_tables
from autotune.files.store.database import now
from autotune.files.store.store_reading import candidates as read_candidates
from autotune.files.store.store_rows import candidate_record, candidate_row, row_of, upsert

A, B, C = (fake.candidate(order) for order in ("jli", "jil", "ijl"))


@pytest.fixture
def store(tmp_path: Path):
    with Store.open(tmp_path / "results.sqlite") as opened:
        yield opened


@pytest.fixture
def engine(store, tmp_path: Path):
    """Another connection to the same database."""
    opened, _ = store_engine.connect(tmp_path / "results.sqlite", create=False, wait=1.0)
    yield opened
    opened.dispose()


def writing(engine):
    """A transaction that writes, as the store begins it."""
    return engine.execution_options(**{store_engine.WRITES: True}).begin()


def begin(store, name="study", config="quickstart", members=(A, B)):
    """A study that chooses from some candidates, and a run of it."""
    store.begin_study(name, StudyOrigin(config=config, setup_text="text"))
    store.add_candidates(name, members)
    return store.begin_run(name, fake.facts())


def ok(store, run, candidate, *samples):
    for number, sample in enumerate(samples):
        store.add_sample(run, candidate.identity, number, sample)
    store.add_outcome(run, candidate.identity, "ok")


# --- what is finished -------------------------------------------------------------------------


def test_what_ran_and_what_failed_to_build_is_finished(store):
    run = begin(store, members=(A, B, C))
    ok(store, run, A, fake.sample())
    store.add_prepared(run, Prepared(candidate=B, status="build-failed", detail="no"))
    store.add_prepared(run, Prepared(candidate=C, status="ok", error=0.0, build="key"))
    assert store.finished() == {run: 2}
    (record,) = store.load_study("study").runs
    assert record.finished == {A.identity, B.identity}


def test_a_contended_candidate_is_not_finished(store):
    run = begin(store)
    store.add_outcome(run, A.identity, "contended", "others ran")
    assert store.finished() == {}
    assert store.load_study("study").runs[0].finished == frozenset()


def test_runs_count_what_they_finished_whatever_their_study(store):
    first = begin(store)
    ok(store, first, A, fake.sample())
    ok(store, first, B, fake.sample())
    second = begin(store, "other", members=(B, C))
    ok(store, second, C, fake.sample())
    assert store.finished() == {first: 2, second: 1}


def test_runs_hold_only_the_candidates_that_are_asked_for(store):
    first = begin(store)
    for candidate in (A, B):
        ok(store, first, candidate, fake.sample())
    choices = [
        StoredChoice(candidate=c.identity, place=i, reason="r") for i, c in enumerate([B, A])
    ]
    store.add_choices(first, choices)
    second = begin(store, "other", members=(B, C))
    ok(store, second, C, fake.sample())
    (there,) = store.runs_of([first, second], {B.identity, "not in the store"})
    assert there.study == "study"
    assert [m.candidate for m in there.measurements] == [B.identity]
    assert [c.candidate for c in there.choices] == [B.identity]
    assert there.finished == {B.identity}
    assert store.runs_of([], {B.identity}) == ()
    assert store.runs_of([first], ()) == ()


def test_of_more_candidates_than_a_query_can_name_all_come_back(store):
    many = [fake.candidate(pad=pad) for pad in range(1200)]
    run = begin(store, members=many)
    outcomes = [Measurement(candidate=c.identity, run=run, status="crashed") for c in many]
    store.add_measurements(run, outcomes)
    identities = {c.identity for c in many}
    (record,) = store.runs_of([run], identities)
    assert {m.candidate for m in record.measurements} == identities
    assert len(store.candidates(sorted(identities))) == len(many)


def test_the_measurements_of_a_run_stand_in_the_order_of_its_choices(store):
    run = begin(store, members=(A, B, C))
    order = [C, A, B]
    store.add_choices(
        run,
        [StoredChoice(candidate=c.identity, place=i, reason="r") for i, c in enumerate(order)],
    )
    for candidate in (A, B, C):
        ok(store, run, candidate, fake.sample())
    (record,) = store.load_study("study").runs
    assert [m.candidate for m in record.measurements] == [c.identity for c in order]
    assert [c.place for c in record.choices] == [0, 1, 2]


def test_strangers_are_the_latest_good_results_of_candidates_of_others(store):
    early = begin(store, members=(A, B, C))
    ok(store, early, C, fake.sample(3e-3))
    ok(store, early, A, fake.sample())
    store.add_outcome(early, B.identity, "crashed")
    late = store.begin_run("study", fake.facts())
    ok(store, late, C, fake.sample(2e-3))
    newest = max(early, late)
    ((record, measurement),) = store.other_candidates({A.identity})
    assert record == candidate_record(C)
    assert (measurement.run, measurement.status) == (newest, "ok")
    assert [sample.seconds for sample in measurement.samples] == [
        2e-3 if newest == late else 3e-3
    ]  # fmt: skip


def test_a_stranger_without_samples_is_passed_over(store):
    run = begin(store)
    store.add_outcome(run, A.identity, "ok")
    assert store.other_candidates({B.identity}) == ()


# --- entering ---------------------------------------------------------------------------------


def test_what_was_measured_elsewhere_is_entered_at_once_and_not_verified(store):
    run = begin(store)
    samples = tuple(fake.sample(seconds) for seconds in (3e-3, 2e-3))
    store.add_measurements(
        run,
        [
            Measurement(candidate=A.identity, run=run, status="ok", samples=samples),
            Measurement(candidate=B.identity, run=run, status="crashed", detail="signal 11"),
        ],
    )
    (record,) = store.load_study("study").runs
    good, bad = record.measurement(A.identity), record.measurement(B.identity)
    assert good is not None
    assert bad is not None
    assert (good.samples, good.verified) == (samples, False)
    assert (bad.status, bad.detail, bad.samples) == ("crashed", "signal 11", ())


def test_what_was_measured_elsewhere_is_entered_wholly_or_not_at_all(store):
    run = begin(store, members=(A,))
    entered = [Measurement(candidate=A.identity, run=run, status="ok", samples=(fake.sample(),))]
    store.add_measurements(run, entered)
    more = Measurement(candidate=B.identity, run=run, status="ok", samples=(fake.sample(),))
    with pytest.raises(StoreError, match=r"UNIQUE|FOREIGN KEY"):
        store.add_measurements(run, [more, *entered])
    (record,) = store.load_study("study").runs
    assert [m.candidate for m in record.measurements] == [A.identity]


def test_samples_are_read_in_the_order_of_their_numbers(store):
    run = begin(store)
    times = (3e-3, 1e-3, 2e-3)
    for number in (2, 0, 1):
        store.add_sample(run, A.identity, number, fake.sample(times[number]))
    (record,) = store.load_study("study").runs
    assert tuple(s.seconds for s in record.measurements[0].samples) == times


def test_samples_of_a_later_launch_follow_those_of_an_earlier_one(store):
    run = begin(store)
    for launch, seconds in ((1, 2e-3), (0, 1e-3)):
        store.add_sample(run, A.identity, 0, fake.sample(seconds, launch=launch))
    (record,) = store.load_study("study").runs
    assert [s.launch for s in record.measurements[0].samples] == [0, 1]


def test_a_sample_of_a_candidate_that_is_not_known_is_refused(store):
    run = begin(store, members=(A,))
    with pytest.raises(StoreError, match="FOREIGN KEY"):
        store.add_sample(run, C.identity, 0, fake.sample())
    store.add_unchosen_candidates([C])
    store.add_sample(run, C.identity, 0, fake.sample())
    assert [c.identity for c in store.load_study("study").candidates] == [A.identity]


def test_candidates_are_read_by_identity_whatever_their_study(store):
    begin(store, members=(A,))
    store.add_unchosen_candidates([C])
    read = store.candidates([C.identity, A.identity, "absent"])
    assert {record.identity for record in read} == {A.identity, C.identity}
    assert store.candidates([]) == ()


def test_members_keep_the_order_in_which_they_came(store):
    store.begin_study("study", StudyOrigin(config="c", setup_text=""))
    store.add_candidates("study", [C, A], baselines=[A.identity])
    store.add_candidates("study", [A, B, C])
    read = store.load_study("study").candidates
    assert [c.identity for c in read] == [c.identity for c in (C, A, B)]
    assert [c.baseline for c in read] == [False, True, False]
    assert store.members("study") == {A.identity, B.identity, C.identity}
    assert store.members("nobody") == frozenset()


def test_an_interval_s_parts_are_no_part_of_a_stored_prediction(store):
    begin(store)
    store.add_predictions(
        "study", fake.ranked([(A, fake.prediction(2e-3)), (B, fake.prediction(None))])
    )
    study = store.load_study("study")
    assert study.prediction(A.identity) == fake.prediction(2e-3)
    failed = study.prediction(B.identity)
    assert failed is not None
    assert failed.seconds is None
    assert study.prediction(A.identity, "kerncraft") is None


# --- studies and runs -------------------------------------------------------------------------


def test_names_are_given_to_one_study_each(store):
    names = [store.new_study("study", StudyOrigin(config="c", setup_text=str(i))) for i in range(3)]
    assert names == ["study", "study-2", "study-3"]
    assert store.unused_name("study") == "study-4"
    assert store.unused_name("study-2") == "study-2-2"
    assert store.unused_name("other") == "other"


def test_studies_are_listed_with_their_runs(store):
    begin(store, "a", "one")
    begin(store, "b", "two")
    store.begin_run("b", fake.facts())
    assert [(s.name, s.config, s.runs) for s in store.studies()] == [
        ("a", "one", 1),
        ("b", "two", 2),
    ]
    assert store.latest_study() == "b"
    assert store.latest_study("one") == "a"
    assert store.latest_study("three") is None
    assert store.load_study("configs/one.yaml").name == "a"
    with pytest.raises(StoreError, match=r"unknown study 'three\.yaml'"):
        store.load_study("three.yaml")


def test_a_run_ends_in_a_state_with_seconds_for_each_phase(store):
    run = begin(store)
    assert store.load_study("study").runs[0].state == "running"
    assert store.load_study("study").runs[0].ended is None
    before = now()
    store.end_run(run, state="interrupted", timings={"build": 2.5})
    (record,) = store.load_study("study").runs
    assert (record.state, record.timings) == ("interrupted", {"build": 2.5})
    assert record.ended is not None
    assert record.started <= before <= record.ended


def test_conditions_that_are_known_later_join_those_of_the_start(store):
    run = begin(store)
    at_start = store.load_study("study").runs[0].conditions
    store.add_conditions(run, {"prior": "it held", "load": "9"})
    conditions = store.load_study("study").runs[0].conditions
    assert conditions == {**at_start, "prior": "it held", "load": "9"}


def test_the_identity_of_a_run_begins_with_its_time(store):
    run = begin(store)
    started = store.load_study("study").runs[0].started
    assert run[:15] == started[:19].replace("-", "").replace(":", "")
    assert len(run) == 24


def test_a_stored_text_that_is_no_value_is_a_fault_of_the_study(store, engine):
    run = begin(store)
    ok(store, run, A, fake.sample())
    with writing(engine) as connection:
        connection.execute(sa.update(store_tables.runs).values(machine="[1]"))
    with pytest.raises(StoreError, match="study study cannot be read: the stored text is no"):
        store.load_study("study")
    with pytest.raises(StoreError, match="a run cannot be read"):
        store.runs_of([run], {A.identity})
    with writing(engine) as connection:
        connection.execute(sa.update(store_tables.candidates).values(record="{}"))
    with pytest.raises(StoreError, match="a candidate cannot be read"):
        store.candidates([A.identity])


# --- the database -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "found", "hint"),
    [
        ("database is locked", "another process has been writing to it for 30 s", "--store FILE"),
        ("database disk image is malformed", "is corrupt: database disk image is malformed", ""),
        ("file is not a database", "is corrupt: file is not a database", "move it away"),
        ("attempt to write a readonly database", "must not be written by this user", ""),
        ("database or disk is full", "cannot grow: database or disk is full", "free some space"),
        ("disk I/O error ", "disk I/O error", "check --store"),
        ("", "the database failed", "check --store"),
    ],
)
def test_an_error_of_the_database_says_what_to_do(error, found, hint):
    def fail():
        cause = sa.exc.OperationalError("SELECT", None, RuntimeError(error))
        with store_engine.errors_in_words("s.sqlite", 30.0):
            raise cause

    with pytest.raises(StoreError) as raised:
        fail()
    text = str(raised.value)
    assert text.startswith(f"s.sqlite: {found}")
    assert hint in text


def test_a_transaction_that_raises_leaves_nothing(engine):
    def enter_and_fail() -> None:
        with writing(engine) as connection:
            upsert(connection, store_tables.candidates, [candidate_row(C)], replace=False)
            raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"):
        enter_and_fail()
    with engine.connect() as connection:
        assert read_candidates(connection, [C.identity]) == ()


def test_a_row_that_is_there_is_kept_or_replaced(engine):
    row = {"identity": "x", "record": "1"}
    table = store_tables.candidates
    with writing(engine) as connection:
        assert upsert(connection, table, [row], replace=False) == 1
        assert upsert(connection, table, [{**row, "record": "2"}], replace=False) == 0
        read = sa.select(table.c.record).where(table.c.identity == "x")
        assert connection.execute(read).scalar_one() == "1"
        assert upsert(connection, table, [{**row, "record": "3"}], replace=True) == 1
        assert connection.execute(read).scalar_one() == "3"
        assert upsert(connection, table, [], replace=True) == 0


def test_many_rows_are_written_together(engine):
    table = store_tables.candidates
    many = [{"identity": f"c{k}", "record": str(k)} for k in range(2500)]
    with writing(engine) as connection:
        upsert(connection, table, many[:7], replace=False)
        assert upsert(connection, table, many, replace=False) == len(many) - 7
        assert upsert(connection, table, many, replace=True) == len(many)
        count = connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
    assert count == len(many)


def test_a_store_without_its_table_of_facts_is_refused(engine):
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE autotune_meta")
    with pytest.raises(StoreError, match="has no table autotune_meta"):
        store_engine.check_schema(engine, "s.sqlite")


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("application", "other", "belongs to other; expected an autotune results store, schema"),
        ("schema", "3", "has schema 3; expected schema 4"),
        ("schema", "5", "has schema 5; expected schema 4"),
        ("schema", "0", "it was begun by autotune"),
        ("schema", "99", "a later autotune than this one"),
    ],
)
def test_a_store_of_another_program_or_schema_is_refused(engine, key, value, words):
    with engine.begin() as connection:
        meta = store_tables.meta
        connection.execute(sa.update(meta).where(meta.c.key == key).values(value=value))
    with pytest.raises(StoreError) as raised:
        store_engine.check_schema(engine, "s.sqlite")
    assert words in str(raised.value)


def test_a_store_that_is_not_to_be_made_is_absent(tmp_path):
    with pytest.raises(StoreError, match="there are no results here; expected a results store"):
        store_engine.connect(tmp_path / "none.sqlite", create=False, wait=1.0)
    assert list(tmp_path.iterdir()) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=8)
@given(
    seconds=st.floats(1e-9, 1e9),
    steps=st.integers(1, 10**6),
    warm=st.booleans(),
    text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20),
)
def test_any_sample_and_any_detail_come_back_as_they_were(store, seconds, steps, warm, text):
    name = store.new_study("study", StudyOrigin(config="c", setup_text=text))
    store.add_candidates(name, [A])
    run = store.begin_run(name, fake.facts())
    sample = fake.sample(seconds, steps=steps, warm_up=warm, conditions={"note": text})
    store.add_sample(run, A.identity, 0, sample)
    store.add_outcome(run, A.identity, "ok", text)
    record = store.load_study(name)
    measurement = record.runs[0].measurement(A.identity)
    assert measurement is not None
    assert (record.setup_text, measurement.detail) == (text, text)
    assert measurement.samples == (sample,)


def test_a_row_is_the_keys_and_the_fields_of_a_value():
    choice = StoredChoice(candidate="c", place=3, reason="a\0b")
    assert row_of(choice, run="r") == {
        "run": "r", "candidate": "c", "place": 3, "reason": "a\ufffdb",
    }  # fmt: skip
