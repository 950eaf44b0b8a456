"""Where threads run: from the config through the candidate to OpenMP and the model."""

from dataclasses import replace

import pytest
from codegen_build import problem, setup, variant
from sample_nodes import documented

from autotune.domain.setup import Layout
from autotune.domain.variant import Candidate, ExecutionLayout
from autotune.errors import ConfigError
from autotune.files import config
from autotune.files.store.store_rows import candidate_record
from autotune.measuring.conditions import quiet
from autotune.models.engines.ecm_arithmetic import domain_share, threads_on_group
from autotune.models.engines.reuse.line_cost import line_costs
from autotune.workloads.layouts import execution_layouts


def test_compact_is_as_it_was_and_scatter_is_another_candidate():
    usual = Candidate(variant=variant(), problem=problem(), layout=ExecutionLayout(threads=2))
    apart = replace(usual, layout=replace(usual.layout, placement="scatter"))
    assert "placement" not in usual.canonical()
    assert usual.identity != apart.identity
    assert apart.label == f"{usual.label}-scatter"
    assert candidate_record(apart).layout.placement == "scatter"
    assert candidate_record(apart).layout.words == "2 threads, scatter"
    assert candidate_record(usual).layout.words == "2 threads"


def test_ranks_are_not_scattered():
    with pytest.raises(ValueError, match="one rank"):
        Layout(ranks=2, placement="scatter")
    with pytest.raises(ValueError, match="one rank"):
        ExecutionLayout(ranks=2, communication="sparse", placement="scatter")


def test_one_thread_or_all_cores_are_placed_the_same_in_any_way():
    layouts = tuple(Layout(threads=t, placement="scatter") for t in (1, 2, 4))
    found = execution_layouts(replace(setup(problem()), layouts=layouts), 4)
    assert [s.placement for s in found] == ["compact", "scatter", "compact"]


def test_openmp_binds_close_or_spread(monkeypatch):
    monkeypatch.setattr(quiet, "cpus", lambda: 8)
    assert quiet.openmp(4)["OMP_PROC_BIND"] == "close"
    assert quiet.openmp(4, placement="scatter")["OMP_PROC_BIND"] == "spread"
    assert quiet.openmp(4, timed=False, placement="scatter")["OMP_PROC_BIND"] == "false"


def test_the_fullest_group():
    assert [threads_on_group(t, 4) for t in (1, 3, 6, 16)] == [1, 3, 4, 4]
    assert [threads_on_group(t, 4, "scatter", of=16) for t in (1, 3, 6, 16)] == [1, 1, 2, 4]
    assert domain_share(8, 4, "scatter", of=8) == (4, 0.5)


def test_threads_apart_have_more_of_a_shared_cache_and_of_memory():
    node = documented(exposed=0)
    two_domains = replace(node, cores=8)
    near = line_costs(two_domains, 4)
    apart = line_costs(two_domains, 4, "scatter")
    assert apart.borders[-1] == 2 * near.borders[-1]
    assert apart.memory >= near.memory
    assert any("scatter" in note for note in apart.notes)
    assert line_costs(node, 4, "scatter").borders == pytest.approx(line_costs(node, 4).borders)


STUDY = """\
schema: autotune.config/1
machine: host
space: pirk
problems: [{ivp: heat2d, method: radau-iia-7, size: 16}]
"""


def read(tmp_path, more):
    path = tmp_path / "study.yaml"
    path.write_text(STUDY + more, encoding="utf-8")
    return config.load(path)


def test_a_study_names_one_placement_or_one_for_each_layout(tmp_path):
    assert read(tmp_path, "threads: [2]\n").layouts == (Layout(threads=2),)
    apart = Layout(threads=2, placement="scatter")
    assert read(tmp_path, "threads: [2]\nplacement: scatter\n").layouts == (apart,)
    layouts = "layouts: [{threads: 2, placement: scatter}, {ranks: 2, threads: 1}]\n"
    assert read(tmp_path, layouts).layouts == (apart, Layout(ranks=2, threads=1))
    both = "layouts: [{threads: 2, placement: compact}, {threads: 2}]\nplacement: scatter\n"
    assert read(tmp_path, both).layouts == (Layout(threads=2), apart)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("placement: close\n", "placement"),
        ("layouts: [{ranks: 2, threads: 1, placement: scatter}]\n", "scatter, and several ranks"),
    ],
)
def test_a_placement_that_cannot_be_is_refused_with_its_place(tmp_path, more, said):
    with pytest.raises(ConfigError, match=said):
        read(tmp_path, more)
