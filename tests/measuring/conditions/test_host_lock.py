"""Turns of tuners on one host: who may build or time while another one does."""

import fcntl
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from autotune.measuring.conditions import host_lock
from autotune.measuring.conditions.host_lock import HostLock


def silent(stage: str, done: int, total: int, detail: str = "") -> None:
    """Nobody is told."""


def free(folder: Path, name: str, kind: int) -> bool:
    """Whether another tuner could take a lock now."""
    handle = os.open(folder / name, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True


def may(folder: Path) -> tuple[bool, bool]:
    """Whether another tuner may build, and whether it may time, without waiting."""
    gate = free(folder, "gate", fcntl.LOCK_EX)
    return (
        gate and free(folder, "host", fcntl.LOCK_SH),
        gate and free(folder, "host", fcntl.LOCK_EX),
    )


def test_while_one_builds_others_may_build_but_not_time(tmp_path: Path) -> None:
    with HostLock(silent, folder=tmp_path).building():
        assert may(tmp_path) == (True, False)
        with HostLock(silent, folder=tmp_path).building():
            assert may(tmp_path) == (True, False)
        assert may(tmp_path) == (True, False)
    assert may(tmp_path) == (True, True)


def test_while_one_times_nobody_else_builds_or_times(tmp_path: Path) -> None:
    with HostLock(silent, folder=tmp_path).timing():
        assert may(tmp_path) == (False, False)
    assert may(tmp_path) == (True, True)


@pytest.mark.parametrize("turn", [HostLock.building, HostLock.timing, HostLock.calibrating])
def test_whatever_goes_wrong_the_turn_ends(
    tmp_path: Path, turn: Callable[[HostLock], AbstractContextManager[None]]
) -> None:
    lock = HostLock(silent, folder=tmp_path)
    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error), turn(lock):
            raise error
        assert may(tmp_path) == (True, True)


def test_a_turn_may_be_taken_again(tmp_path: Path) -> None:
    lock = HostLock(silent, folder=tmp_path / "made" / "here")
    for _ in range(2):
        with lock.timing():
            pass
        with lock.building():
            pass
    assert sorted(path.name for path in lock.folder.iterdir()) == ["gate", "host"]


def test_who_waits_is_told_so_and_goes_on_when_the_other_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_lock, "_PATIENCE", 0.0)
    other = HostLock(silent, folder=tmp_path).building()
    words: list[str] = []

    def told(stage: str, done: int, total: int, detail: str = "") -> None:
        words.append(stage)
        other.__exit__(None, None, None)

    other.__enter__()
    with HostLock(told, folder=tmp_path).timing():
        assert may(tmp_path) == (False, False)
    assert words == ["wait for another tuner on this host"], "once, and no more"


def test_calibrations_wait_for_one_another_and_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_lock, "_PATIENCE", 0.0)
    other = HostLock(silent, folder=tmp_path).calibrating()
    words: list[str] = []

    def told(stage: str, done: int, total: int, detail: str = "") -> None:
        words.append(stage)
        assert may(tmp_path) == (False, False), "it waits for no tuner yet, and the other times"
        other.__exit__(None, None, None)

    other.__enter__()
    with HostLock(told, folder=tmp_path).calibrating():
        assert may(tmp_path) == (False, False)
        assert not free(tmp_path, "calibration", fcntl.LOCK_EX)
    assert words == ["wait for another calibration of this host"], "once, and no more"
    assert free(tmp_path, "calibration", fcntl.LOCK_EX)


def test_a_calibration_waits_for_a_tuner_that_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_lock, "_PATIENCE", 0.0)
    other = HostLock(silent, folder=tmp_path).timing()
    words: list[str] = []

    def told(stage: str, done: int, total: int, detail: str = "") -> None:
        words.append(stage)
        other.__exit__(None, None, None)

    other.__enter__()
    with HostLock(told, folder=tmp_path).calibrating():
        assert may(tmp_path) == (False, False)
    assert words == ["wait for another tuner on this host"]


def test_who_waits_to_time_keeps_new_builds_from_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_lock, "_PATIENCE", 0.0)
    other = HostLock(silent, folder=tmp_path).building()
    seen: list[tuple[bool, bool]] = []

    def told(stage: str, done: int, total: int, detail: str = "") -> None:
        seen.append(may(tmp_path))
        other.__exit__(None, None, None)

    other.__enter__()
    with HostLock(told, folder=tmp_path).timing():
        pass
    assert seen == [(False, False)]


def test_after_its_deadline_nobody_is_waited_for(tmp_path: Path) -> None:
    late = HostLock(silent, deadline=0.0, folder=tmp_path)
    with HostLock(silent, folder=tmp_path).timing(), late.timing(), late.building():
        assert may(tmp_path) == (False, False)


def test_where_no_lock_can_be_kept_there_are_no_turns(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", encoding="ascii")
    lock = HostLock(silent, folder=tmp_path / "file")
    with lock.timing(), lock.building():
        pass
    assert (tmp_path / "file").read_text(encoding="ascii") == "no folder"


def test_the_locks_are_in_the_cache_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path))
    assert HostLock(silent).folder.parent == tmp_path
