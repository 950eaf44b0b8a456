"""``compare`` with a config: a published table beside predictions for its machine, nothing run."""

from pathlib import Path

import pytest

from autotune.commands.compare import flow as compare_flow
from autotune.files.store import Store, StudyOrigin


@pytest.fixture(scope="module")
def engine():
    """Ours: it needs a compiler, but neither kerncraft nor the machine."""
    return "reuse"


def test_a_config_with_a_published_table_is_compared_with_it(autotune, engine):
    done = autotune("compare", "icpe19-medakzo", "--engine", engine, "--json")
    document = done.json()
    assert next(iter(document)) == "schema"
    assert document["schema"] == "autotune.compare-reference/1"
    assert document["study"] == "icpe19-medakzo"
    assert document["machine"] == "haswell-e5-2630v3"
    assert "icc" in document["reference"]["compiler"]
    (one,) = document["comparisons"]
    allgather, sparse = one["groups"]
    assert (allgather["communication"], allgather["fitted"]) == ("allgather", False)
    assert (sparse["communication"], sparse["fitted"]) == ("sparse", True)
    assert one["headline"]["groups"] == ["allgather"]
    for row in allgather["rows"]:
        measured = row["published"]["measured"]
        assert measured["corrected"] is None
        deviation = row["predicted_s"] / measured["printed"] - 1
        assert row["deviation"] == pytest.approx(deviation)
        assert row["communication_s"] == pytest.approx(1.27, rel=1e-3)


def test_the_text_names_what_it_was_predicted_with(autotune, engine):
    done = autotune("compare", "configs/icpe19-split.yaml", "--engine", engine)
    assert "kerncraft 0.7.0 with IACA" in done.out
    assert "fitted: fed the allgather curve" in done.out
    assert "no headline: a cost curve was fitted to allgather, neighbour" in done.out
    assert "Traceback" not in done.err


def test_a_config_without_a_table_is_refused(autotune):
    done = autotune("compare", "configs/quickstart.yaml", check=2)
    assert "the key 'reference' is missing" in done.err
    assert "name of its study" in done.err


def test_a_config_that_is_not_there_is_named(autotune):
    done = autotune("compare", "configs/icpe19-wave2d.yaml", check=2)
    assert "there is no such file" in done.err
    assert "did you mean configs/icpe19-wave1d.yaml?" in done.err


def test_a_name_stands_for_a_config_with_a_table_unless_a_study_has_it(tmp_path):
    store = str(tmp_path / "results.sqlite")
    assert compare_flow.config_of("icpe19-wave1d", store) == Path("icpe19-wave1d")
    assert compare_flow.config_of("quickstart", store) is None
    assert compare_flow.config_of("icpe19-heat2d-sizes-8", store) is None
    assert compare_flow.config_of("", store) is None
    with Store.open(store) as results:
        results.begin_study("icpe19-wave1d", StudyOrigin(config="icpe19-wave1d", setup_text=""))
    assert compare_flow.config_of("icpe19-wave1d", store) is None
    assert compare_flow.config_of("configs/icpe19-wave1d.yaml", store) is not None


def test_an_engine_is_for_a_config_only(autotune):
    done = autotune("compare", "--engine", "reuse", check=2)
    assert "needs a config, not a study" in done.err
