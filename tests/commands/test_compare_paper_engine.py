"""``compare`` with a config of the paper, by the paper's engine: kerncraft."""

import pytest


@pytest.mark.long
def test_the_engine_of_the_paper_is_the_default_of_its_configs(autotune):
    """The order of the predictions is that of the paper; ijl, ilj, lij and lji exceed jil."""
    document = autotune("compare", "icpe19-wave1d", "--json").json()
    (one,) = document["comparisons"]
    assert (one["engine"], one["saturation"]) == ("kerncraft", "paper")
    assert one["headline"]["groups"] == ["allgather", "neighbour"]
    gaps = [
        {gap["variant"]: gap["predicted"] for gap in group["differences"]}
        for group in one["groups"]
    ]
    assert gaps[0] == pytest.approx(gaps[1])  # communication is in all alike
    assert 0 <= gaps[0]["jli"] < gaps[0]["lji"] < gaps[0]["ijl"] < gaps[0]["ilj"]
    assert gaps[0]["lij"] == pytest.approx(0.229, rel=0.1)
