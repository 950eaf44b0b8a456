"""Published tables: printed numbers, errata as data, and what a config may compare with them."""

import pytest

from autotune import paths
from autotune.domain.reference import Figure, PublishedGroup, PublishedRow, Share
from autotune.errors import ConfigError
from autotune.files import config

ORDERS = ("ijl", "ilj", "jil", "jli", "lij", "lji")
TABLES = ["icpe19-figures12-13", *(f"icpe19-table{k}" for k in range(2, 7))]

TABLE = """\
schema: autotune.reference/1
title: a table
source: "A. Author, Proceedings, table 1"
machine: haswell-e5-2630v3
compiler: icc -O3
model: kerncraft 0.7.0
problem: {ivp: wave1d, method: radau-iia-7, correctors: 6, n: 8000}
layout: {nodes: 8, threads: 8}
parameter: order
rule: {variant: jil, source: chosen on another problem}
groups:
  - communication: allgather
    source: table 1
    resolution: 10 ms
    rows:
      - {variant: jil, predicted: 1.00 s, measured: 2.00 s, deviation: -50.0 %}
      - variant: jli
        predicted: 1.10 s
        measured: {printed: 22.00 s, corrected: 2.20 s, reason: the decimal point}
        deviation: -50.0 %
"""

STUDY = """\
schema: autotune.config/1
machine: haswell-e5-2630v3
skeleton: pirk
space: pirk-orders
problems:
  - {ivp: wave1d, method: radau-iia-7, correctors: 6, size: 8000}
builds: [{compiler: gcc, flags: [-O3, -march=haswell]}]
layouts: [{nodes: 8, ranks: 1, threads: 8}]
reference: table.yaml
"""


def read(tmp_path, text=TABLE):
    path = tmp_path / "table.yaml"
    path.write_text(text, encoding="utf-8")
    return config.reference(path)


def faults(tmp_path, text):
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    return [str(fault).replace(f"{tmp_path}/", "") for fault in caught.value.faults]


def study_faults(tmp_path, study, table=TABLE):
    (tmp_path / "table.yaml").write_text(table, encoding="utf-8")
    (tmp_path / "study.yaml").write_text(study, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        config.load(tmp_path / "study.yaml")
    return [str(fault).replace(f"{tmp_path}/", "") for fault in caught.value.faults]


# --- one file ---------------------------------------------------------------------------------


def test_a_table_is_read(tmp_path):
    found = read(tmp_path)
    assert found.name == "table"
    assert (found.nodes, found.ranks, found.threads) == (8, 1, 8)
    assert found.variants == ("jil", "jli")
    (group,) = found.groups
    assert group.resolution == pytest.approx(0.01)
    assert group.row("jil").measured.value == 2.0
    corrected = group.row("jli").measured
    assert (corrected.printed, corrected.value, corrected.erratum) == (22.0, 2.2, True)
    assert group.row("jli").deviation.value == pytest.approx(-0.5)
    assert found.key("allgather", "jli") == "table/allgather/jli"


def test_a_printed_deviation_that_does_not_follow_needs_an_erratum(tmp_path):
    (fault,) = faults(tmp_path, TABLE.replace("deviation: -50.0 %}", "deviation: -5.0 %}"))
    assert "table 1, jil: a deviation of -5.0% does not follow from 1 s and 2 s" in fault
    assert fault.startswith("table.yaml:16")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("predicted: 1.00 s", "predicted: 1.00", "has no unit of time"),
        ("deviation: -50.0 %}", "deviation: -0.5}", "is not a percentage such as -3.6 %"),
        (", reason: the decimal point", "", "an erratum and its reason come together"),
        ("corrected: 2.20 s", "corected: 2.20 s", "unknown key 'corected'"),
        ("variant: jli\n", "variant: jil\n", "a variant is there twice"),
        ("communication: allgather", "communication: none", "several ranks have a communication"),
        ("predicted: 1.10 s", "predicted: 0 s", "'0 s' is not positive"),
        ("resolution: 10 ms", "resolution: 10", "resolution: the number 10 has no unit"),
        ("    source: table 1\n", "", "the key 'source' is missing"),
    ],
)
def test_wrong_tables_are_refused_in_words(tmp_path, old, new, words):
    assert any(words in fault for fault in faults(tmp_path, TABLE.replace(old, new)))


def test_figures_are_checked():
    with pytest.raises(ValueError, match="either corrected or suspect"):
        Figure(printed=1.0, corrected=2.0, suspect=True, reason="both")
    with pytest.raises(ValueError, match="come together"):
        Figure(printed=1.0, reason="none")


def test_rounded_times_allow_a_range_of_deviations():
    def group(deviation):
        share = Share(
            predicted=Figure(printed=0.30),
            measured=Figure(printed=0.35),
            deviation=Figure(printed=deviation),
        )
        row = PublishedRow(
            variant="ijl",
            predicted=Figure(printed=0.3),
            measured=Figure(printed=0.35),
            application=share,
        )
        return PublishedGroup(
            communication="allgather", source="figure", resolution=0.01, rows=(row,)
        )

    group(-0.156)  # -14.3 % of the printed times
    with pytest.raises(ValueError, match="does not follow"):
        group(-0.20)


# --- the tables that are shipped --------------------------------------------------------------


def test_the_published_tables_are_found_by_name():
    found = [name for name in paths.names("benchmarks/published") if name.startswith("icpe19")]
    assert found == sorted(TABLES)
    for name in TABLES:
        found = config.reference(name)
        assert "ICPE 2019" in found.source
        assert (found.n, found.layout) == (5984**2, "8 nodes x 1 rank(s) x 8 threads")
        assert "icc" in found.compiler
        assert "kerncraft 0.7.0" in found.model


@pytest.mark.parametrize("name", TABLES[1:])
def test_every_table_has_the_six_orders_twice(name):
    found = config.reference(name)
    assert found.groups[0].communication == "allgather"
    assert found.groups[1].communication in ("neighbour", "sparse")
    assert all([row.variant for row in group.rows] == list(ORDERS) for group in found.groups)


def test_the_errata_are_marked():
    errata = {
        (found.name, group.communication, row.variant, what): (figure.printed, figure.corrected)
        for found in map(config.reference, TABLES)
        for group in found.groups
        for row in group.rows
        for what, figure in row.figures
        if figure.erratum
    }
    assert errata == {
        ("icpe19-figures12-13", "neighbour", "ijl", "communication deviation"): (2.0, 1.5),
        ("icpe19-table2", "allgather", "ilj", "deviation"): (-0.016, -0.16),
        ("icpe19-table3", "sparse", "ilj", "measured"): (0.875, None),
        ("icpe19-table5", "sparse", "jil", "measured"): (7.98, 0.798),
        ("icpe19-table6", "allgather", "ilj", "deviation"): (-0.147, -0.128),
        ("icpe19-table6", "neighbour", "jil", "predicted"): (0.270, None),
        ("icpe19-table6", "neighbour", "jli", "predicted"): (0.272, None),
        ("icpe19-table6", "neighbour", "lij", "predicted"): (0.489, None),
    }


def test_the_predicted_differences_are_the_same_in_every_table_but_the_suspect_rows():
    stated = {"ijl": 0.155, "ilj": 0.229, "lij": 0.229, "lji": 0.079}
    for found in map(config.reference, TABLES[1:]):
        for group in found.groups:
            base = group.row("jil").predicted
            for variant, gap in stated.items():
                figure = group.row(variant).predicted
                if not (figure.suspect or base.suspect):
                    room = 1.5 * group.resolution  # two roundings and that of the stated number
                    assert figure.value - base.value == pytest.approx(gap, abs=room)


def test_every_fitted_curve_of_the_machine_names_rows_that_there_are():
    machine = config.machine("haswell-e5-2630v3")
    fed = {key for curve in machine.network.curves for key in curve.fitted_to}
    groups = {
        found.key(group.communication)
        for found in map(config.reference, TABLES)
        for group in found.groups
    }
    assert fed == {
        "icpe19-figures12-13/allgather",
        "icpe19-figures12-13/neighbour",
        "icpe19-table3/sparse",
        "icpe19-table5/sparse",
    }
    assert fed <= groups


def test_the_curves_of_the_machine_go_through_their_anchors():
    """50.8 ms, 2 ms, and 21.7 and 17.4 ms, over 25 phases; from the tables as they are printed."""
    network = config.machine("haswell-e5-2630v3").network
    n_p = 8 * 5984**2 // 8
    assert network.curve("allgather", 8, 8).at(n_p) == pytest.approx(1.27 / 25, rel=1e-3)
    assert network.curve("neighbour", 8, 8).at(8 * 5984) == pytest.approx(0.05 / 25, rel=0.02)
    phases = []
    for name in ("icpe19-table3", "icpe19-table5"):
        allgather, sparse = config.reference(name).groups
        pairs = zip(sparse.rows, allgather.rows, strict=True)
        exchanges = [s.predicted.value - (a.predicted.value - 1.27) for s, a in pairs]
        phases.append(sum(exchanges) / len(exchanges) / 25)
    assert phases == pytest.approx([0.0217, 0.0174], abs=1e-4)
    assert network.curve("sparse", 8, 8).at(n_p) == pytest.approx(sum(phases) / 2, rel=0.01)


# --- configs ----------------------------------------------------------------------------------


def test_the_configs_of_the_paper_compute_what_its_tables_are_about():
    names = [name for name in paths.names("configs") if name.startswith("icpe19-")]
    assert len(names) == 9
    for name in names:
        setup = config.load(name)
        assert (setup.engine, setup.saturation) == ("kerncraft", "paper")
        assert all(problem.correctors == 6 for problem in setup.problems)
        assert (setup.reference is None) == ("sizes" in name)
        if setup.reference:
            assert [p.n for p in setup.problems] == [35_808_256]
            assert setup.machine.name == setup.reference.machine
    assert {p.size for p in config.load("icpe19-heat2d-sizes-4").problems} >= {4800, 5984, 6000}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("size: 8000", "size: 9000", "table is about wave1d, radau-iia-7, 6 correctors, n = 8000"),
        ("ivp: wave1d", "ivp: inverterchain", "not inverterchain-N8000 with n = 8000"),
        ("nodes: 8", "nodes: 4", "table was run on 8 nodes x 1 rank(s) x 8 threads"),
        ("reference: table", "reference: tabel", "there is no file"),
        ("reference: table.yaml", "reference: icpe19-tabel2", "did you mean icpe19-table2?"),
        ("reference:", "communication: [sparse]\nreference:", "has rows of communication allgath"),
    ],
)
def test_a_config_must_fit_its_table(tmp_path, old, new, words):
    (fault,) = study_faults(tmp_path, STUDY.replace(old, new))
    assert words in fault


def test_a_row_that_the_space_lacks_is_named_with_the_nearest(tmp_path):
    table = TABLE.replace("variant: jli", "variant: jlii")
    (fault,) = study_faults(tmp_path, STUDY, table)
    assert fault.startswith(
        "study.yaml:9:12: table has a row 'jlii', which space pirk-orders lacks"
    )
    assert "one of ijl, ilj, jil, jli, lij, lji" in fault
    assert "did you mean jli?" in fault


def test_the_parameter_of_the_rows_must_be_one_of_the_space(tmp_path):
    (fault,) = study_faults(tmp_path, STUDY, TABLE.replace("parameter: order", "parameter: loops"))
    assert "names values of 'loops', no parameter of space pirk-orders" in fault


def test_the_faults_of_a_table_come_with_those_of_its_config(tmp_path):
    found = study_faults(tmp_path, STUDY.replace("nodes: 8", "nodes: x"), TABLE + "colour: red\n")
    assert any(fault.startswith("study.yaml:8") for fault in found)
    assert any(fault.startswith("table.yaml:") and "colour" in fault for fault in found)
