"""One reading: names become files; faults stand in the order of their files and lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune import paths
from autotune.errors import ConfigError
from autotune.files.config.session import KINDS, Session


def texts(session):
    with pytest.raises(ConfigError) as raised:
        session.finish()
    return [str(fault) for fault in raised.value.faults]


def test_a_reading_without_faults_is_finished_silently():
    Session().finish()


def test_faults_stand_file_by_file_as_they_were_read_from_the_top_down():
    session = Session()
    for where in ("b.yaml:9:1", "a.yaml:2:1", "b.yaml:10:1", "b.yaml:9:2", "a.yaml:1:9", "b.yaml"):
        session.add(where, "wrong")
    session.add("a.yaml:2:1", "wrong")
    assert [text.removesuffix(": wrong") for text in texts(session)] == [
        "b.yaml", "b.yaml:9:1", "b.yaml:9:2", "b.yaml:10:1", "a.yaml:1:9", "a.yaml:2:1",
    ]  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 30), st.integers(1, 9))))
def test_no_fault_is_lost_and_none_is_there_twice(places):
    session = Session()
    for file, line, column in places:
        session.add(f"{file}.yaml:{line}:{column}", "wrong")
    if places:
        assert sorted(texts(session)) == sorted(
            {f"{file}.yaml:{line}:{column}: wrong" for file, line, column in places}
        )


def test_a_file_is_read_once_by_each_reader(tmp_path):
    path, calls = tmp_path / "x.yaml", []
    path.write_text("", encoding="utf-8")

    def first(_session, path):
        calls.append(path.name)
        return len(calls)

    def second(_session, _path):
        return None

    session = Session()
    assert session.once(path, first) == session.once(tmp_path / "." / "x.yaml", first) == 1
    assert session.once(path, second) is None
    assert calls == ["x.yaml"]


# --- names of files ---------------------------------------------------------------------------


@pytest.mark.parametrize("collection", list(KINDS))
def test_a_name_is_a_file_of_its_collection(collection, tmp_path):
    for name in paths.names(collection):
        path = Session().resolve(name, collection, tmp_path)
        assert path is not None
        assert path.is_file()
        assert path.stem == name


@pytest.mark.parametrize("ending", [".yaml", ".yml"])
def test_a_path_is_relative_to_the_file_that_names_it(tmp_path, ending):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / f"m{ending}").write_text("", encoding="utf-8")
    path = Session().resolve(f"sub/m{ending}", "machines", tmp_path)
    assert path == tmp_path / "sub" / f"m{ending}"
    absolute = str(tmp_path / "sub" / f"m{ending}")
    assert Session().resolve(absolute, "machines", tmp_path / "sub") == path


def test_a_path_that_is_not_there_names_the_nearest_file(tmp_path):
    (tmp_path / "haswell.yaml").write_text("", encoding="utf-8")
    session = Session()
    assert session.resolve("haswel.yaml", "machines", tmp_path, "c.yaml:2:1") is None
    (text,) = texts(session)
    assert text.startswith("c.yaml:2:1: there is no file '")
    assert text.endswith("haswel.yaml' (did you mean haswell.yaml?)")


@pytest.mark.parametrize(("collection", "kind"), list(KINDS.items()))
def test_a_name_that_is_not_there_lists_those_that_are(collection, kind, tmp_path):
    name = paths.names(collection)[0]
    session = Session()
    assert session.resolve(f"{name}x", collection, tmp_path, "c.yaml:2:1") is None
    (text,) = texts(session)
    assert text.startswith(f"c.yaml:2:1: unknown {kind} '{name}x'; expected one of ")
    assert "or a path that ends in .yaml" in text
    assert "(did you mean " in text


def test_words_that_need_no_file_are_offered_too(tmp_path):
    session = Session()
    assert session.resolve("hots", "machines", tmp_path, "c", ("host",)) is None
    (text,) = texts(session)
    assert "did you mean host?" in text


@pytest.mark.parametrize(
    "name",
    [
        "",
        "\0",
        "a\0.yaml",
        "../..",
        "/",
        "a/b",
        "é" * 300,
        "a" * 300 + ".yaml",
        "a/" * 3000 + ".yaml",
        "b" * 300 + "/x.yaml",
    ],
    ids=range(10),
)
def test_hostile_names_are_faults(name, tmp_path):
    session = Session()
    assert session.resolve(name, "machines", tmp_path, "c.yaml:1:1") is None
    (text,) = texts(session)
    assert text.startswith("c.yaml:1:1: ")
