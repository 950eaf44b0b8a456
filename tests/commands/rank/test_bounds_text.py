"""The lower bounds of the best candidates, as ``rank`` prints them and in its document."""

import json

import fabricated as made
from typer.testing import CliRunner

from autotune import paths
from autotune.commands.app import app
from autotune.commands.rank.bounds_text import text
from autotune.commands.rank.document import bounds_row
from autotune.domain.ranking import Ranking, rank
from autotune.domain.results import Prediction


def ranking(*predictions: Prediction) -> Ranking:
    candidates = [made.candidate(order) for order in ("jli", "ijl")[: len(predictions)]]
    return rank(candidates, predictions)[0]


def printed(ranking: Ranking) -> str:
    return text([ranking], made.machine())


def test_the_best_candidate_is_set_against_its_largest_bound() -> None:
    lines = printed(ranking(made.prediction(2e-3), made.prediction(1e-3))).splitlines()
    assert lines == [
        "heat2d-N256, engine reuse: the best candidate takes 1.000 ms,"
        " 2.02 times its lower bound by MEM",
        "  lower bounds of its step if all else overlapped: MEM 495.0 us, core 297.0 us,"
        " L2 198.0 us",
        "  least of each over all 2 candidates: L2 495.0 us, MEM 495.0 us, core 297.0 us;"
        " no mixture of them takes less than 495.0 us",
        "  the machine at best, in one pass a step: memory nothing, the caches hold all;"
        " the machine file has no in_core.ports, so no peak of the arithmetic",
    ]


def test_a_single_candidate_is_not_set_against_others() -> None:
    assert len(printed(ranking(made.prediction(1e-3))).splitlines()) == 3


def test_without_bounds_the_reason_is_printed() -> None:
    assert printed(ranking(made.prediction(None, reason="no loop"))) == (
        "heat2d-N256, engine reuse: no lower bounds: no candidate has a predicted time"
    )


def test_the_document_has_the_bounds_of_the_best_candidate() -> None:
    row = bounds_row(ranking(made.prediction(2e-3), made.prediction(1e-3)), made.machine())
    assert (row.problem, row.engine, row.limited_by) == ("heat2d-N256", "reuse", "MEM")
    assert row.candidate == made.candidate("ijl").id
    assert row.reason is None
    assert row.bounds is not None
    assert [b.resource for b in row.bounds] == ["MEM", "core", "L2"]
    assert row.ratio == 1e-3 / row.bounds[0].seconds


def test_the_document_says_why_there_are_none() -> None:
    row = bounds_row(ranking(made.prediction(None, reason="no loop")), made.machine())
    assert (row.bounds, row.ratio, row.limited_by, row.candidate) == (None, None, None, None)
    assert row.machine is None
    assert row.reason == "no candidate has a predicted time"


def test_a_real_ranking_ends_with_the_bounds_of_its_first_candidate() -> None:
    """On a machine file, with a compiler and OSACA."""
    config = str(paths.folder("configs") / "icpe19-wave1d.yaml")
    done = CliRunner().invoke(app, ["rank", config, "--engine", "reuse", "--top", "1", "--bounds"])
    assert done.exit_code == 0, done.output
    head, bounds, least, machine = done.stdout.splitlines()[-4:]
    assert head.startswith("wave1d-N35808256, engine reuse: the best candidate takes ")
    assert head.endswith(" times its lower bound by MEM")
    ratio = float(head.split(" times ")[0].split()[-1])
    assert ratio >= 1
    assert bounds.startswith("  lower bounds of its step if all else overlapped: MEM ")
    assert ", core " in bounds
    assert least.startswith("  least of each over all ")
    assert machine.startswith("  the machine at best, in one pass a step: ")
    assert "memory " in machine
    assert "arithmetic " in machine


def test_the_document_of_a_real_ranking_has_a_row_per_problem() -> None:
    config = str(paths.folder("configs") / "icpe19-wave1d.yaml")
    done = CliRunner().invoke(app, ["rank", config, "--engine", "reuse", "--json"])
    document = json.loads(done.stdout)
    (row,) = document["bounds"]
    first = document["ranking"][0]
    assert row["candidate"] == first["candidate"]
    times = [bound["seconds"] for bound in row["bounds"]]
    assert times == sorted(times, reverse=True)
    assert 0 < times[0] <= first["predicted_s"]
    assert row["ratio"] == first["predicted_s"] / times[0]
    least = {bound["resource"]: bound["seconds"] for bound in row["least"]}
    assert {bound["resource"] for bound in row["machine"]["bounds"]} == {"arithmetic", "memory"}
    assert row["machine"]["missing"] == []
    assert all(least.get(b["resource"], 0) <= b["seconds"] for b in row["bounds"])
