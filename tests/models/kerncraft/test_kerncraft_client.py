"""Pools of worker processes, keys of answers, and what is kept of them on disk."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from kerncraft_fake import RECORD

from autotune import paths
from autotune.errors import MissingTool
from autotune.models import answer_cache
from autotune.models.kerncraft import kerncraft_cache
from autotune.models.kerncraft.kerncraft_analyser import KerncraftAnalyser
from autotune.models.kerncraft.kerncraft_client import KerncraftPool, Reply, failed
from autotune.models.kerncraft.kerncraft_model import EcmModel
from autotune.units import Seconds

SCRIPT = """\
import json, os, sys, time
for line in sys.stdin:
    request = json.loads(line)
    do = request["do"]
    if do == "end":
        sys.exit("these were its last words")
    if do == "hang":
        time.sleep(600)
    if do == "late":
        time.sleep(0.1)
    if do == "other":
        print(json.dumps({"id": -1}), flush=True)
    answer = {"id": request["id"], "ok": True, "pid": os.getpid(), "do": do}
    text = json.dumps(answer) + "\\n"
    sys.stdout.write(text[:5]); sys.stdout.flush()
    sys.stdout.write(text[5:]); sys.stdout.flush()
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def script(tmp_path: Path) -> list[str]:
    place = tmp_path / "worker.py"
    place.write_text(SCRIPT, encoding="utf-8")
    return [sys.executable, "-S", "-u", str(place)]


@pytest.fixture
def pool(script: list[str]) -> Iterator[KerncraftPool]:
    made = KerncraftPool(script, os.environ, count=2, limit=Seconds(20))
    yield made
    made.close()


def replies(pool: KerncraftPool, *tasks: str) -> dict[int, Reply]:
    return dict(pool.ask([{"do": task} for task in tasks]))


# --- the pool -----------------------------------------------------------------------------------


def test_every_request_has_one_reply_whatever_the_order_of_arrival(pool: KerncraftPool) -> None:
    done = replies(pool, "late", "a", "b", "c")
    assert {place: reply["do"] for place, reply in done.items()} == {
        0: "late",
        1: "a",
        2: "b",
        3: "c",
    }
    assert pool.starts == 2


def test_workers_stay_until_they_are_closed(pool: KerncraftPool) -> None:
    first = replies(pool, "a")[0]["pid"]
    assert replies(pool, "b")[0]["pid"] == first
    assert pool.starts == 1
    pool.close()
    assert replies(pool, "c")[0]["pid"] != first
    assert pool.starts == 2


def test_no_requests_start_nobody(pool: KerncraftPool) -> None:
    assert replies(pool) == {}
    assert pool.starts == 0


def test_a_worker_that_ends_costs_its_request_only(pool: KerncraftPool) -> None:
    done = replies(pool, "a", "end", "b")
    assert done[1] == failed("its worker ended: these were its last words")
    assert done[1] == {
        "ok": False,
        "lasting": False,
        "error": "its worker ended: these were its last words",
    }
    assert [done[k]["ok"] for k in (0, 2)] == [True, True]


def test_an_answer_to_another_request_is_not_taken(pool: KerncraftPool) -> None:
    assert replies(pool, "other")[0]["do"] == "other"


def test_a_worker_without_an_answer_is_ended_at_its_limit(script: list[str]) -> None:
    made = KerncraftPool(script, os.environ, count=1, limit=Seconds(0.2))
    done = replies(made, "hang")
    assert done[0]["error"] == "no answer within 0.2 s"
    made.close()


def test_workers_that_all_end_are_not_started_for_ever(pool: KerncraftPool) -> None:
    """Four that end without an answer are enough; the requests left have none either."""
    done = replies(pool, *["end"] * 9)
    errors = [str(done[k]["error"]) for k in range(9)]
    assert pool.starts <= 5
    assert errors[-1] == "its workers end without an answer"
    assert len(done) == 9


# --- keys ---------------------------------------------------------------------------------------


def test_keys_depend_on_kernel_machine_and_worker() -> None:
    plain = ("kernel", "machine", "worker")
    keys = {plain: kerncraft_cache.key(*plain)}
    for place in range(3):
        changed = tuple(text + "x" * (place == k) for k, text in enumerate(plain))
        keys[changed] = kerncraft_cache.key(*changed)  # type: ignore[arg-type]
    assert len(set(keys.values())) == 4
    assert kerncraft_cache.key(*plain) == keys[plain]
    assert all(len(key) == 64 and int(key, 16) for key in keys.values())


def compiler(folder: Path, name: str, version: str) -> None:
    place = folder / name
    place.write_text(f"#!/bin/sh\necho {version}\n", encoding="utf-8")
    place.chmod(0o755)


MACHINE = "name: made\ncompiler:\n  - made-cc: -O3\n  - no-such-cc: -O2\nother-cc: 1\n"


def test_keys_depend_on_the_compilers_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of those under ``compiler:``; one of another version gives another key."""
    keys = [kerncraft_cache.key("kernel", MACHINE, "worker")]
    for place, version in enumerate(("1.0", "2.0")):
        folder = tmp_path / str(place)
        folder.mkdir()
        compiler(folder, "made-cc", version)
        with monkeypatch.context() as patch:
            patch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
            keys.append(kerncraft_cache.key("kernel", MACHINE, "worker"))
            compiler(folder, "other-cc", "3.0")
            assert kerncraft_cache.key("kernel", MACHINE, "worker") == keys[-1]
    assert len(set(keys)) == 3


# --- what is kept -------------------------------------------------------------------------------


def test_an_answer_is_read_again_as_it_was_kept() -> None:
    assert kerncraft_cache.stored("ab" * 32) is None
    answer: Mapping[str, object] = {"ok": True, "record": RECORD}
    kerncraft_cache.keep("ab" * 32, answer)
    assert kerncraft_cache.stored("ab" * 32) == answer


def places(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_answers_lie_in_folders_of_their_kind_and_leave_nothing_beside(cache: Path) -> None:
    answer_cache.keep_answer("kind", "abcdef", {"a": 1})
    answer_cache.keep_answer("kind", "abcdef", {"a": 2})
    answer_cache.keep_answer("other", "abcdef", {"a": 3})
    assert places(cache) == ["kind/ab/abcdef.json", "other/ab/abcdef.json"]
    assert answer_cache.stored_answer("kind", "abcdef", ()) == {"a": 2}


@pytest.mark.parametrize("text", ["", "{", "[1]", "7", '{"b": 1}', "\udcff"])
def test_answers_that_cannot_be_read_or_lack_a_field_are_none(cache: Path, text: str) -> None:
    place = cache / "kind" / "ab" / "abc.json"
    place.parent.mkdir(parents=True)
    place.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert answer_cache.stored_answer("kind", "abc", ("a",)) is None


def test_a_folder_in_the_place_of_an_answer_is_removed(cache: Path) -> None:
    (cache / "kind" / "ab" / "abc.json" / "inner").mkdir(parents=True)
    assert answer_cache.stored_answer("kind", "abc", ()) is None
    answer_cache.keep_answer("kind", "abc", {"a": 1})
    assert answer_cache.stored_answer("kind", "abc", ()) == {"a": 1}
    assert places(cache) == ["kind/ab/abc.json"]


def test_a_cache_that_cannot_be_written_is_no_failure(cache: Path) -> None:
    cache.mkdir()
    (cache / "kind").write_text("a file where a folder should be", encoding="utf-8")
    answer_cache.keep_answer("kind", "abc", {"a": 1})
    assert answer_cache.stored_answer("kind", "abc", ()) is None
    assert places(paths.cache_dir()) == ["kind"]


# --- the analyser -------------------------------------------------------------------------------


ANSWERS = """\
import json, sys
from pathlib import Path
for line in sys.stdin:
    request = json.loads(line)
    text = Path(request["folder"], "kernel.c").read_text().strip()
    answer = json.loads(text)
    print(json.dumps({"id": request["id"], **answer}), flush=True)
"""


def analyser(folder: Path, progress: list[tuple[int, int]] | None = None) -> KerncraftAnalyser:
    """An analyser whose kernels say what is answered of them."""
    place = folder / "answers.py"
    place.write_text(ANSWERS, encoding="utf-8")
    steps = progress if progress is not None else []
    return KerncraftAnalyser(
        "machine",
        command=[sys.executable, "-S", "-u", str(place)],
        progress=lambda done, every: steps.append((done, every)),
        limit=20.0,
    )


def asked(*answers: Mapping[str, object]) -> Sequence[str]:
    return [json.dumps(answer) for answer in answers]


def test_equal_kernels_are_analysed_once_and_models_come_in_order(tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    good, bad = asked({"ok": True, "record": RECORD}, {"ok": False, "error": "odd"})
    with analyser(tmp_path, steps) as made:
        models = made.analyse([good, bad, good])
        assert isinstance(models[0], EcmModel)
        assert models[2] is models[0]
        assert models[1] == "kerncraft: odd"
        assert steps == [(0, 2), (1, 2), (2, 2)]
        assert made.starts >= 1


def test_lasting_answers_are_kept_and_others_asked_again(tmp_path: Path) -> None:
    kernels = asked(
        {"ok": True, "record": RECORD},
        {"ok": False, "lasting": True, "error": "never"},
        {"ok": False, "error": "not now"},
    )
    with analyser(tmp_path) as made:
        first = made.analyse(kernels)
    steps: list[tuple[int, int]] = []
    with analyser(tmp_path, steps) as made:
        assert made.analyse(kernels) == first
    assert steps[0] == (0, 1)


def test_records_that_contradict_their_own_samples_are_refused(tmp_path: Path) -> None:
    """kerncraft is said to have got 99 cycles where the model of its record gives another time."""
    sample = {
        "sizes": {"N": 100},
        "cores": 1,
        "transfers": [0.0, 0.0],
        "T_ECM": 99.0,
        "saturation": float("inf"),
        "scaling": 99.0,
    }
    (kernel,) = asked({"ok": True, "record": {**RECORD, "samples": [sample]}})
    with analyser(tmp_path) as made:
        (model,) = made.analyse([kernel])
    assert isinstance(model, str)
    assert model.startswith("kerncraft: its results are not reproduced: ")


def test_no_kernels_need_no_worker(tmp_path: Path) -> None:
    with analyser(tmp_path) as made:
        assert made.analyse([]) == []
        assert made.starts == 0


def test_a_missing_kerncraft_is_named_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingTool) as refused, KerncraftAnalyser("machine") as made:
        made.analyse(["kernel"])
    assert "engine kerncraft: kerncraft is not installed" in str(refused.value)
    assert "pip install kerncraft==0.8.18" in str(refused.value)
