"""A store whose file is deleted, moved or replaced while it is open takes no more rows."""

import resource
import shutil
from pathlib import Path

import fabricated as fake
import pytest

from autotune.errors import LostStore, StoreError
from autotune.files.store import Store, StudyOrigin


def begun(store: Store) -> str:
    store.begin_study("study", StudyOrigin(config="c", setup_text=""))
    store.add_candidates("study", [fake.candidate()])
    return store.begin_run("study", fake.facts())


@pytest.mark.parametrize(
    ("harm", "found"),
    [
        (lambda path: path.unlink(), "was deleted or moved away while it was in use"),
        (lambda path: path.rename(path.with_name("away")), "was deleted or moved away"),
        (lambda path: shutil.move(shutil.copy(path, f"{path}.copy"), path), "was replaced"),
    ],
    ids=["deleted", "moved", "replaced"],
)
def test_nothing_is_written_to_a_lost_file(tmp_path: Path, harm, found: str):
    path = tmp_path / "results.sqlite"
    with Store.open(path) as store:
        run = begun(store)
        store.add_sample(run, fake.candidate().identity, 0, fake.sample())
        harm(path)
        for _ in range(2):
            with pytest.raises(LostStore, match=found) as error:
                store.add_sample(run, fake.candidate().identity, 1, fake.sample(2e-3))
        assert error.value.exit_code == 1
        assert "--resume" in str(error.value)
        (measurement,) = store.load_study("study").runs[0].measurements
        assert [sample.seconds for sample in measurement.samples] == [1e-3]


def test_no_empty_file_takes_the_place_of_a_deleted_store(tmp_path: Path):
    path = tmp_path / "results.sqlite"
    with Store.open(path) as store:
        store.close()  # its connections, so that the next one is new
        path.unlink()
        with pytest.raises(LostStore, match="was deleted"):
            store.studies()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_comes_back_takes_rows_again(tmp_path: Path):
    path, away = tmp_path / "results.sqlite", tmp_path / "away"
    with Store.open(path) as store:
        run = begun(store)
        path.rename(away)
        with pytest.raises(LostStore):
            store.add_sample(run, fake.candidate().identity, 0, fake.sample())
        away.rename(path)
        store.add_sample(run, fake.candidate().identity, 0, fake.sample())
        (measurement,) = store.load_study("study").runs[0].measurements
        assert len(measurement.samples) == 1


@pytest.mark.parametrize("room", [0, 4096, 40_000])
def test_a_store_that_has_no_room_to_be_created(tmp_path: Path, room: int):
    path = tmp_path / "results.sqlite"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        with pytest.raises(StoreError, match=r"results.sqlite: .*(disk|full|write)"):
            Store.open(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []
