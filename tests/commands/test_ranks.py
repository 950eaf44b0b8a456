"""The main job with several ranks, and ranking for machines that are not here."""

import os
import typing
from collections.abc import Callable
from pathlib import Path

import pytest

from autotune import paths

Cli = Callable[..., typing.Any]

NETWORK = """
network:
  curves:
    - {operation: allgather, benchmark: autotune, nodes: 1, ranks: 2, measured: [8 B, 1 MiB],
       segments: [{from: 0 B, latency: 2 us, bandwidth: 3 GB/s}]}
    - {operation: neighbour, benchmark: autotune, nodes: 1, ranks: 2, measured: [8 B, 1 MiB],
       segments: [{from: 0 B, latency: 1 us, bandwidth: 5 GB/s}]}
"""
STUDY = """\
schema: autotune.config/1
title: two ranks against two threads
machine: node.yaml
space: pirk-orders
problems:
  - {ivp: heat2d, method: radau-iia-5, correctors: 4, size: 41}
builds: [{compiler: gcc, flags: [-O2]}]
layouts: [{ranks: 1, threads: 2}, {ranks: 2, threads: 1}]
communication: [allgather, neighbour]
measuring: {rounds: 2, samples: 2, min_sample: 1 ms, busy: 0, verify_steps: 2}
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study on a node with cost curves, so that no host is calibrated."""
    text = paths.folder("machines").joinpath("generic-x86-64.yaml").read_text(encoding="utf-8")
    (tmp_path / "node.yaml").write_text(text + NETWORK, encoding="utf-8")
    path = tmp_path / "ranks.yaml"
    path.write_text(STUDY, encoding="utf-8")
    return path


@pytest.mark.long
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="optional: two ranks need two cores")
def test_ranks_are_predicted_built_verified_and_timed(autotune: Cli, study: Path) -> None:
    found = autotune("tune", str(study), "--exhaustive", "--json").json()
    (problem,) = found["problems"]
    rows = problem["evaluated"]
    assert len(rows) == 18
    assert {row["status"] for row in rows} == {"ok"}
    text = autotune("compare").out
    assert "warning: predicted for node, timed on " in text
    ways = {
        way for row in rows for way in ("R2-allgather", "R2-neighbour") if way in row["candidate"]
    }
    assert ways == {"R2-allgather", "R2-neighbour"}
    assert all(row["predicted_s"] and row["measured_s"] for row in rows)


def test_the_ranking_shows_what_communication_costs(autotune: Cli, study: Path) -> None:
    rows = autotune("rank", str(study), "--json").json()["ranking"]
    for row in rows:
        kinds = [part["kind"] for part in row["parts"]]
        assert ("communication" in kinds) == (row["layout"]["ranks"] == 2)
        assert (row["layout"]["communication"] == "none") == (row["layout"]["ranks"] == 1)
    text = autotune("rank", str(study), "--why", "jli-pad5@heat2d-N41-T1-R2-allgather").out
    assert "communication" in text
    # 4 corrector steps of 3 stages, and y itself
    assert any("13 x allgather" in row["reason"] for row in rows)


def test_a_machine_without_tables_is_predicted_by_both_engines(autotune: Cli, study: Path) -> None:
    """kerncraft's traffic then stands beside work that the port table counts in the C text."""
    rows = autotune("rank", str(study), "--engine", "both", "--json").json()["ranking"]
    assert len(rows) == 36
    assert all(row["predicted_s"] is not None for row in rows)
    told = autotune("rank", str(study), "--engine", "kerncraft").out
    assert "engine kerncraft: in-core by the port table of node on the C text" in told


def test_what_a_machine_has_no_curve_for_has_no_number(autotune: Cli, study: Path) -> None:
    node = study.with_name("node.yaml")
    node.write_text(node.read_text().replace("operation: neighbour", "operation: barrier"))
    rows = autotune("rank", str(study), "--json").json()["ranking"]
    for row in rows:
        assert (row["predicted_s"] is None) == (row["layout"]["communication"] == "neighbour")
        if row["predicted_s"] is None:
            assert "no cost curve for neighbour within a node" in row["reason"]


def test_a_cluster_that_is_not_here(autotune: Cli) -> None:
    """Everything offline: no MPI, no compiler of that machine is asked for."""
    rows = autotune("rank", "configs/icpe19-wave1d.yaml", "--json").json()["ranking"]
    assert {tuple(row["layout"][k] for k in ("nodes", "ranks", "threads")) for row in rows} == {
        (8, 8, 8)
    }
    assert all(row["predicted_s"] for row in rows)
    assert all(row["engine"] == "kerncraft" for row in rows)


def test_more_ranks_than_cores_name_the_place(autotune: Cli, study: Path) -> None:
    study.write_text(study.read_text().replace("ranks: 2, threads: 1", "ranks: 3, threads: 2"))
    done = autotune("rank", str(study), check=2)
    assert "ranks.yaml:8:" in done.err
    assert "3 ranks of 2 threads are more than the cores of node" in done.err


def test_an_mpi_launcher_that_is_not_installed_names_its_line(autotune: Cli, study: Path) -> None:
    study.write_text(study.read_text() + "mpi_launcher: 'srrun -n {ranks} {command}'\n")
    done = autotune("tune", str(study), check=2)
    assert "ranks.yaml:11:" in done.err
    assert "'srrun' is not installed" in done.err


def test_several_nodes_need_something_that_starts_ranks_there(autotune: Cli, study: Path) -> None:
    study.write_text(study.read_text().replace("ranks: 2, threads: 1", "nodes: 2, threads: 1"))
    done = autotune("tune", str(study), check=2)
    assert "ranks.yaml:8:" in done.err
    assert "2 nodes, and nothing that starts ranks on them" in done.err


def test_neighbours_alone_for_unlimited_access_is_refused(autotune: Cli, study: Path) -> None:
    text = study.read_text().replace("heat2d", "medakzo")
    study.write_text(text.replace("[allgather, neighbour]", "[neighbour]"))
    done = autotune("rank", str(study), check=2)
    assert "medakzo has no limited access distance" in done.err
    study.write_text(text)
    done = autotune("variants", str(study), "--illegal")
    assert "neighbour communication needs a limited access distance" in done.out
    assert "(6 illegal ones: autotune variants --illegal)" in autotune("rank", str(study)).out
