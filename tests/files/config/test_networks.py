"""Network files: what they hold, that they round-trip, where their mistakes are."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune import paths
from autotune.domain.cost_curve import OPERATIONS, CostCurve, Segment
from autotune.domain.network import Network
from autotune.errors import ConfigError
from autotune.files import config

NETWORK = """\
schema: autotune.network/1
title: FDR InfiniBand, 8 nodes
curves:
  - operation: allgather
    benchmark: anchor
    nodes: 8
    ranks: 8
    measured: [35.8 MB, 35.8 MB]
    segments: [{from: 0 B, latency: 0 us, bandwidth: 705 MB/s}]
    residual: [0.95, 1.05]
    source: a paper
    fitted_to: [table2/allgather]
  - operation: pingpong
    benchmark: osu
    nodes: 2
    ranks: 2
    measured: [8 B, 1 MiB]
    segments:
      - {from: 0 B, latency: 1.2 us, bandwidth: 3 GB/s}
      - {from: 8 KiB, latency: -0.5 us, bandwidth: 2 GB/s}
    points: [{size: 8 B, time: 1.2 us}]
"""

WITHOUT_NUL = st.characters(exclude_categories=["Cs"], exclude_characters="\0")


def read(tmp_path, text):
    path = tmp_path / "n.yaml"
    path.write_text(text, encoding="utf-8")
    return config.read_network(path)


def faults(tmp_path, text):
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    return [str(fault).replace(str(tmp_path / "n.yaml"), "n.yaml") for fault in caught.value.faults]


def test_a_network_file_is_read(tmp_path):
    network = read(tmp_path, NETWORK)
    assert network.title == "FDR InfiniBand, 8 nodes"
    anchor, pair = network.curves
    assert anchor.at(35_800_000) == pytest.approx(35.8e6 / 705e6)
    assert anchor.fitted_to == ("table2/allgather",)
    assert pair.segments[1] == Segment(lower=8192, latency=-0.5e-6, bandwidth=2e9)
    assert pair.points == ((8, 1.2e-6),)
    assert pair.residual == (1.0, 1.0)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("operation: pingpong", "operation: ping", "n.yaml:13:16: operation: text 'ping'"),
        ("{from: 8 KiB", "{form: 8 KiB", "n.yaml:20:10: unknown key 'form'; expected one of"),
        ("{from: 8 KiB", "{form: 8 KiB", "did you mean from?"),
        ("bandwidth: 2 GB/s", "bandwidth: -2 GB/s", "n.yaml:20:"),
        ("bandwidth: 2 GB/s", "bandwidth: 2", "has no unit of bandwidth"),
        ("latency: -0.5 us", "latency: -5 us", "pingpong: the curve falls to zero or below"),
        ("latency: -0.5 us, ", "", "the key 'latency' is missing"),
        ("{from: 0 B, latency: 1.2 us", "{from: 1 B, latency: 1.2 us", "from 0 B on"),
        ("from: 8 KiB", "from: 0 B", "must ascend"),
        ("measured: [8 B, 1 MiB]", "measured: [8 B]", "measured: 1 values; expected at least 2"),
        ("[0.95, 1.05]", "[1.02, 1.05]", "does not hold 1"),
        ("ranks: 8", "ranks: 9", "9 ranks cannot be spread evenly over 8 nodes"),
        ("nodes: 8", "nodes: 0", "nodes: the number 0; expected at least 1"),
        ("schema: autotune.network/1", "schema: autotune.network/2", "version '2'"),
        ("points: [{size: 8 B, time: 1.2 us}]", "points: [{size: 8 B, time: 0 us}]", "positive"),
    ],
)
def test_mistakes_have_their_place(tmp_path, old, new, words):
    assert old in NETWORK
    found = faults(tmp_path, NETWORK.replace(old, new))
    assert any(words in fault for fault in found), found
    assert all(fault.startswith("n.yaml:") for fault in found)


def test_two_curves_of_one_kind(tmp_path):
    text = NETWORK.replace("operation: pingpong", "operation: allgather").replace(
        "nodes: 2\n    ranks: 2", "nodes: 8\n    ranks: 8"
    )
    (fault,) = faults(tmp_path, text)
    assert "a second curve for allgather of 8 ranks on 8 nodes" in fault
    assert "first at" in fault


def test_all_mistakes_at_once(tmp_path):
    text = NETWORK.replace("ranks: 8", "ranks: 9").replace("latency: -0.5 us", "latency: -5 us")
    assert len(faults(tmp_path, text)) == 2


@st.composite
def networks(draw):
    curves = {}
    for _ in range(draw(st.integers(0, 4))):
        nodes = draw(st.integers(1, 8))
        lowers = [0, *sorted(draw(st.sets(st.integers(1, 1 << 30), max_size=3)))]
        positive = st.floats(1e-9, 1e3)
        sizes = sorted(draw(st.sets(st.integers(0, 1 << 40), max_size=3)))
        curve = CostCurve(
            operation=draw(st.sampled_from(OPERATIONS)),
            benchmark=draw(st.text(WITHOUT_NUL, min_size=1).filter(str.strip)),
            nodes=nodes,
            ranks=nodes * draw(st.integers(1, 4)),
            segments=tuple(
                Segment(
                    lower=lower,
                    latency=draw(positive),
                    bandwidth=draw(st.none() | st.floats(1.0, 1e12)),
                )
                for lower in lowers
            ),
            measured=tuple(sorted(draw(st.tuples(*[st.integers(0, 1 << 40)] * 2)))),
            residual=(draw(st.floats(0.01, 1.0)), draw(st.floats(1.0, 100.0))),
            points=tuple((size, draw(positive)) for size in sizes),
            source=draw(st.text(WITHOUT_NUL)),
            fitted_to=tuple(draw(st.lists(st.text(WITHOUT_NUL, min_size=1), max_size=2))),
        )
        curves[curve.key] = curve
    return Network(title=draw(st.text(WITHOUT_NUL))).updated(tuple(curves.values()))


@given(networks())
@settings(max_examples=80, deadline=None)
def test_networks_round_trip(tmp_path_factory, network):
    path = tmp_path_factory.mktemp("network") / "n.yaml"
    path.write_text(config.dump_network(network), encoding="utf-8")
    assert config.read_network(path) == network


def test_a_machine_file_may_name_a_network_file_beside_it(tmp_path):
    (tmp_path / "net.yaml").write_text(NETWORK, encoding="utf-8")
    text = paths.folder("machines").joinpath("generic-x86-64.yaml").read_text(encoding="utf-8")
    path = tmp_path / "node.yaml"
    path.write_text(text + "network: net.yaml\n", encoding="utf-8")
    assert config.machine(path).network == read(tmp_path, NETWORK)
    for name, found in (("nett.yaml", "there is no file 'nett.yaml'"), ("net", "ends in .yaml")):
        path.write_text(text + f"network: {name}\n", encoding="utf-8")
        with pytest.raises(ConfigError, match=found):
            config.machine(path)
    (tmp_path / "net.yaml").write_text(NETWORK.replace("1.2 us", "1.2 m", 1), encoding="utf-8")
    path.write_text(text + "network: net.yaml\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"net.yaml:19:30: latency: 'm' is not a unit of time"):
        config.machine(path)
