"""Skeletons and spaces: what their files must hold, and which variants the shipped ones give."""

import re
from collections import Counter

import pytest

from autotune import paths
from autotune.domain.skeleton import CallStep, CommStep, LoopStep, SyncStep
from autotune.domain.variant import FuseTiles, Tile, Variant
from autotune.errors import ConfigError
from autotune.files import config
from autotune.language.expression import Ref, Sym

SPACE = """\
schema: autotune.space/1
skeleton: pirk
title: a space
parameters:
  order: [jli, ilj]
  au: [false, true]
  tile: [none, 256]
rules:
  - {interchange: {kernel: lc, order: $order}}
  - {fuse: {first: approx, second: update}, when: {au: true}}
  - {tile: {kernel: lc, size: $tile}, when: {tile: 256}}
constraints:
  - {when: {tile: [256], order: jli}, require: never, reason: no use}
baseline: {order: jli, au: false, tile: none}
"""


def write(tmp_path, text):
    path = tmp_path / "x.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def faults(tmp_path, read, text):
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        read(path)
    return [str(fault).replace(str(path), "x.yaml") for fault in caught.value.faults]


def test_the_skeleton_of_a_time_step():
    skeleton = config.skeleton("pirk")
    assert list(skeleton.kernels) == ["rhs_first", "rhs", "lc", "approx", "update"]
    rhs = skeleton.kernels["rhs"]
    assert rhs.evaluation is not None
    assert rhs.evaluation.argument == Ref("Y", (Sym("l"),))
    first, call, loop, *rest = skeleton.steps
    assert (first, call) == (CommStep("y"), CallStep("rhs_first"))
    assert isinstance(loop, LoopStep)
    assert loop.body == (
        CallStep("lc"),
        SyncStep(),
        CommStep("Y"),
        CallStep("rhs"),
        SyncStep(),
    )
    assert rest == [CallStep("approx"), CallStep("update"), SyncStep()]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("- call: lc", "- call: lx", r"unknown kernel 'lx'; .*\(did you mean lc\?\)"),
        ("- comm: Y", "- comm: A", "unknown stored array 'A'; expected one of F, Y, dy, y"),
        (
            "        - sync\n        - comm",
            "        - snyc\n        - comm",
            "text 'snyc'; expected",
        ),
        ("- call: lc", "- {call: lc, comm: Y}", "a step is exactly one of call, loop, comm, sync"),
        ("count: m", "count: q", "unknown name 'q'; expected one of m, s"),
        ('reduce: i\n    target: "Y', 'reduce: k\n    target: "Y', "reduces over k"),
        ("A[l][i]*F[i][j]", "A[l][i]*G[i][j]", "unknown array 'G'"),
        ("A[l][i]*F[i][j]", "A[l]*F[i][j]", r"A\[l\] has 1 indices; expected 2 for A of s x s"),
        ("A[l][i]*F[i][j]", "A[l][j]*F[i][j]", "j runs to n; expected an index of extent s"),
        ("A[l][i]*F[i][j]", "A[l][i]*F[i][j]*z", "unknown name 'z'"),
        ("h*sum + y[j]", "h + y[j]", "does not use the sum"),
        ('argument: "Y[l]"', 'argument: "Y[l][j]"', "has 2 indices; expected 1"),
        ('argument: "Y[l]"', 'argument: "b"', "b is not stored"),
        ('argument: "Y[l]"', 'argument: "1 + 2"', "is not an array or an element of one"),
        ("loops: [j, l, i]", "loops: [j, l, i, i]", "the loop 'i' is here again"),
        ("loops: [j, l, i]", "loops: [j, l, i, q]", "unknown dimension 'q'"),
        ("j: n}", "j: m}", "j: text 'm'; expected 's', 'n' or 'grid'"),
        ("arrays:", "arays:", None),
    ],
)
def test_a_wrong_skeleton(tmp_path, old, new, expected):
    text = (paths.folder("variants/skeleton") / "pirk.yaml").read_text(encoding="utf-8")
    assert old in text
    found = faults(tmp_path, config.skeleton, text.replace(old, new, 1))
    if expected is None:
        assert len(found) == 2
        assert found[1].endswith("(did you mean arrays?)")
    else:
        assert re.search(expected, found[0]), found


def test_a_space_is_read(tmp_path):
    space = config.generated(write(tmp_path, SPACE)).space
    assert space.name == "x"
    assert space.parameters["tile"] == ("none", 256)
    assert space.rules[2].when == {"tile": (256,)}
    assert space.forbidden({"order": "jli", "au": False, "tile": 256}, True) == "no use"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("skeleton: pirk", "skeleton: prik", r"2:11: unknown skeleton 'prik'.*did you mean pirk"),
        ("interchange:", "interchang:", r"unknown key 'interchang'; .*did you mean interchange"),
        ("{kernel: lc, order", "{kernel: lx, order", r"9:28: unknown kernel 'lx'.*mean lc"),
        ("$order", "$ordr", r"9:39: unknown parameter '\$ordr'.*did you mean \$order"),
        ("order: $order", "order: ijk", "'ijk' is not an order of the loops of lc; expected each"),
        ("[jli, ilj]", "[jli, ilj, jl]", "5:21: text 'jl' is not an order of the loops of lc"),
        ("[jli, ilj]", "[jli, ilj, jli]", "5:21: order: text 'jli' is here again"),
        ("when: {au: true}", "when: {ua: true}", r"10:52: unknown parameter 'ua'.*did you mean au"),
        ("when: {au: true}", "when: {au: 1}", r"10:56: au: the number 1 is not one of its values"),
        ("when: {tile: 256}", "when: {tile: 512}", "tile: the number 512 is not one of its values"),
        (", when: {tile: 256}", "", "size must be a whole number, not 'none'"),
        ("{kernel: lc, size: $tile}", "{kernel: lc, size: -4}", "at least one component, not -4"),
        ("{kernel: lc, size: $tile}", "{kernel: lc}", "the key 'size' is missing"),
        ("{kernel: lc, size: $tile}", "{kernel: lc, size: 1.5}", "the number 1.5 is not text"),
        ("[none, 256]", "[]", "tile has no values"),
        ("[none, 256]", "none", "tile: text 'none'; expected a list"),
        ("require: never", "require: always", "expected 'limited', 'near' or 'never'"),
        (", tile: none}", "}", "14:1: the baseline has no value of tile"),
        ("baseline: {order: jli", "baseline: {order: jil", "order: text 'jil' is not one of its"),
        ("baseline: {", "baseline: {x: 1, ", "14:12: unknown parameter 'x'"),
        (
            "  - {fuse:",
            "  - {pad: {lines: 1}, fuse:",
            "exactly one of align, block, contract, fuse",
        ),
    ],
)
def test_a_wrong_space(tmp_path, old, new, expected):
    assert old in SPACE
    found = faults(tmp_path, config.generated, SPACE.replace(old, new, 1))
    assert re.search(expected, "\n".join(found)), found


def test_all_faults_of_a_space_at_once(tmp_path):
    text = SPACE.replace("$order", "$ordr").replace("au: true", "ua: true")
    text = text.replace("kernel: lc, size", "kernel: lx, size").replace("title:", "tilte:")
    text = text.replace("tile: [256]", "tile: [255]").replace("order: jli, au", "order: jlo, au")
    text = text.replace("tilte", "title: x\ntilte")
    assert len(faults(tmp_path, config.generated, text)) == 6


def allowed(space, *, limited=True):
    return [v for v in space.combinations() if space.forbidden(v, limited) is None]


def test_the_full_space():
    space = config.generated("pirk").space
    assert len(allowed(space)) == 144
    assert len(allowed(space, limited=False)) == 72
    for values in allowed(space):
        kinds = Counter(type(t) for t in space.transformations(values))
        assert kinds[Tile] + kinds[FuseTiles] == (values["tile"] != "none")
        assert kinds[FuseTiles] == values["rhslc"]


def test_the_small_space():
    space = config.generated("pirk-small").space
    assert len(allowed(space)) == 27
    assert len(allowed(space, limited=False)) == 24


def test_the_small_space_of_explicit_methods():
    space = config.generated("erk-small").space
    values = allowed(space)
    assert len(values) == 56
    assert sum(chosen["block"] != "none" for chosen in values) == 40
    assert all(chosen["block"] == "none" for chosen in allowed(space, limited=False))
    full = config.generated("erk").space
    extra = {name: value for name, value in full.baseline.items() if name not in space.parameters}
    for chosen in values:
        assert full.forbidden(chosen | extra, True) is None
        assert full.transformations(chosen | extra) == space.transformations(chosen)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("count: s - 1", "count: s", r"x.yaml:\d+:\d+: l is 1 at last where s is 1; expected the"),
        ("count: s - 1", "count: m", r"l runs to s; expected a dimension of extent s, and a count"),
        ("variable: l", "variable: j", r"j runs to n; expected a dimension of extent s"),
        ("variable: l", "variable: k", r"unknown name 'l'"),
        ("first: 1", "first: -1", r"first: the number -1; expected at least 0"),
        ('loops: [j]\n    target: "F[l][j]"', 'loops: [l, j]\n    target: "F[l][j]"',
         r"the loop 'l' is around a call of rhs"),
        ('target: "F[0][j]"', 'target: "F[l][j]"', r"unknown name 'l'"),
    ],
)  # fmt: skip
def test_a_wrong_loop_over_stages(tmp_path, old, new, expected):
    text = (paths.folder("variants/skeleton") / "erk.yaml").read_text(encoding="utf-8")
    assert old in text
    found = faults(tmp_path, config.skeleton, text.replace(old, new, 1))
    assert any(re.search(expected, fault) for fault in found), found


def test_loops_over_stages_tell_explicit_methods_from_implicit_ones():
    pirk, erk = config.skeleton("pirk"), config.skeleton("erk")
    assert pirk.lacking(explicit=False, stages=1) is None
    assert erk.lacking(explicit=True, stages=2) is None
    assert "implicit" in pirk.lacking(explicit=True, stages=2)
    assert "explicit" in erk.lacking(explicit=False, stages=2)
    assert erk.lacking(explicit=True, stages=1) == "needs a method of 2 stages or more, not 1"


def variants(name):
    space = config.generated(name).space
    return [
        Variant(
            skeleton=space.skeleton,
            transformations=space.transformations(values),
            parameters=values,
        )
        for values in allowed(space)
    ]


@pytest.mark.parametrize("name", ["pirk-orders", "pirk-small"])
def test_the_small_spaces_are_parts_of_the_full_one(name):
    full = variants("pirk")
    assert all(variant in full for variant in variants(name))


@pytest.mark.parametrize("name", paths.names("variants/space"))
def test_baselines_are_strong_and_labels_unique(name):
    space = config.generated(name).space
    assert space.forbidden(space.baseline, False) is None
    labels = [variant.label for variant in variants(name)]
    assert len(set(labels)) == len(labels)
    baseline = Variant(
        skeleton=space.skeleton,
        transformations=space.transformations(space.baseline),
        parameters=dict(space.baseline),
    )
    unpadded = 0 in space.parameters["pad"] and len(space.parameters["pad"]) == 1
    sweeps = "t1-" if "t" in space.parameters else ""
    grid = f"{sweeps}u1"
    labels = {"pirk": "jli", "erk": "ji", "jacobi": grid, "gauss-seidel": grid}
    expected = labels[space.skeleton]
    pad = "-pad5" if space.skeleton in ("pirk", "erk") else "-pad1"
    assert baseline.label == expected + ("" if unpadded else pad)
