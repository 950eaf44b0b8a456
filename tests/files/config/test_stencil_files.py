"""Stencils, and the skeletons, spaces and studies about them: what their files must hold."""

import pytest

from autotune import paths
from autotune.domain.kernel import Application
from autotune.domain.skeleton import CallStep, SwapStep, SyncStep
from autotune.domain.variant import Block, Pad, Unroll
from autotune.errors import ConfigError
from autotune.files import config

STENCIL = """\
schema: autotune.stencil/1
title: a star
source: a book
dimensions: [k, j, i]
constants: {c: "0.4", d: "(1 - c)/6"}
coefficients: {W: "1.0 + 0.1*i/I"}
body: "c*u[k][j][i] + d*W[k][j][i]*(u[k][j][i-1] + u[k][j][i+1] + u[k-2][j][i])"
initial: "1.0 + (i + 2*j)/(I + 2.0*J)"
"""

SKELETON = """\
schema: autotune.skeleton/1
title: a sweep
source: a book
dimensions: {x: grid}
arrays: {u: [grid], v: [grid]}
kernels:
  sweep: {loops: [x], target: "v[x]", stencil: {argument: u}}
steps:
  - call: sweep
  - sync
  - swap: [u, v]
"""

SPACE = """\
schema: autotune.space/1
skeleton: jacobi
title: a space
parameters: {bj: [none, 8], u: [1, 2], pad: [0]}
rules:
  - {block: {kernel: sweep, dimension: j, size: $bj}, when: {bj: 8}}
  - {unroll: {kernel: sweep, dimension: i, factor: $u}, when: {u: 2}}
  - {pad: {lines: $pad}}
baseline: {bj: none, u: 1, pad: 0}
"""

STUDY = """\
schema: autotune.config/1
machine: haswell-e5-2630v3
space: stencil-small
problems:
  - {stencil: star3d-7pt, size: 96}
  - {stencil: star3d-7pt, grid: {i: 1600, j: 1500, k: 24}}
  - {stencil: star2d-5pt, grid: {i: 100, j: 200}}
threads: [1]
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


def changed(text, old, new):
    assert old in text
    return text.replace(old, new, 1)


# --- stencils -------------------------------------------------------------------------------


def test_a_stencil_is_read(tmp_path):
    stencil = config.stencil(write(tmp_path, STENCIL))
    assert stencil.name == "x"
    assert stencil.dimensions == ("k", "j", "i")
    assert stencil.radius == 2
    assert stencil.reads == {
        "u": ((0, 0, 1), (0, 0, 0), (0, 0, -1), (-2, 0, 0)),
        "W": ((0, 0, 0),),
    }
    assert stencil.values((3, 4, 5))["d"] == pytest.approx(0.1)


POINTS = {
    "star3d-7pt": (7, 1),
    "star3d-7pt-variable": (7, 1),
    "box3d-27pt": (27, 1),
    "star3d-r4": (25, 4),
    "star2d-5pt": (5, 1),
    "star3d-13pt": (13, 2),
    "box2d-9pt": (9, 1),
    "gauss-seidel3d-7pt": (7, 1),
    "red-black3d-7pt": (7, 1),
}


def test_every_shipped_stencil_has_its_points():
    assert sorted(paths.names("kernels/stencil")) == sorted(POINTS)
    for name, (points, radius) in POINTS.items():
        stencil = config.stencil(name)
        assert (len(stencil.reads["u"]), stencil.radius) == (points, radius)
    assert len(config.stencil("star3d-7pt-variable").reads) == 8


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("[k, j, i]", "[k, j, i, h]", "x.yaml:4:1: dimensions: 4 values; expected at most 3"),
        ("[k, j, i]", "[k, jj, i]", "x.yaml:4:17: a dimension is named by one small letter"),
        ("[k, j, i]", "[k, i, i]", "x.yaml:4:20: the dimension 'i' is here again"),
        ("[k, j, i]", "[u, j, i]", "x.yaml:4:14: the dimension 'u' has the name of an array"),
        ("d: \"", "i: \"", "x.yaml:5:23: the name 'i' is taken by the index of dimension i"),
        ("(1 - c)/6", "(1 - cc)/6", "x.yaml:5:26: unknown name 'cc'; expected one of I, J, K, c"
         " (did you mean c?)"),
        ("(1 - c)/6", "u[k][j][i]", "u[k][j][i] is an array element"),
        ("(1 - c)/6", "1/(J - J)", "x.yaml:5:26: on a grid of 5 x 6 x 7: division by zero"),
        ("(1 - c)/6", "1e-309", "x.yaml:5:26: on a grid of 5 x 6 x 7: the value 1e-309 is denorm"),
        ("0.1*i/I", "0.1*n/I", "x.yaml:6:19: unknown name 'n'; expected one of I, J, K, c, d, i,"),
        ("0.1*i/I", "1/(i + 2)", "x.yaml:6:19: on a grid of 5 x 6 x 7: at (-2, -2, -2): division"),
        ("u[k-2][j][i]", "v[k-2][j][i]", "x.yaml:7:7: v[k - 2][j][i] is the target of the sweep:"
         " it must not be read; expected elements of W, u"),
        ("u[k-2][j][i]", "w[k-2][j][i]", "x.yaml:7:7: unknown array 'w'; expected one of W, u"
         " (did you mean W?)"),
        ("u[k-2][j][i]", "u[k-2][j]", "u[k - 2][j] has 2 indices, not 3"),
        ("u[k-2][j][i]", "u[j][k][i]", "x.yaml:7:7: u[j][k][i] is not u[k+number][j+number]"),
        ("u[k-2][j][i]", "u[k-2][y][i]", "x.yaml:7:7: u[k - 2][y][i]: unknown dimension 'y';"
         " expected one of i, j, k"),
        ("u[k-2][j][i]", "u[2*k][j][i]", "with whole numbers"),
        ("u[k-2][j][i]", "u[k-0.5][j][i]", "with whole numbers"),
        ("u[k-2][j][i]", "u[k-17][j][i]", "reads too far; expected at most 16 points away"),
        ("u[k-2][j][i]", "c*k", "x.yaml:7:7: 'k' alone is no value of a point; expected an element"
         " such as u[k+number][j+number][i+number]"),
        ("u[k-2][j][i]", "W", "'W' alone is no value of a point"),
        ("u[k-2][j][i]", "dd", "unknown name 'dd'; expected one of I, J, K, c, d (did"),
        ("1.0 + (i", "u[k][j][i] + (i", "x.yaml:8:10: u[k][j][i] is an array element"),
        ("1.0 + (i", "log(i) + (i", "x.yaml:8:10: on a grid of 5 x 6 x 7: at (-2, -2, -2): log"),
        ("1.0 + (i", "(i + k) % 5 + (i", "at (-2, -2, -2): (i + k) % 5 is of -4, and"),
        ("1.0 + (i", "(2.0 if i % 2 < 1 else 1.0) + (i", "at (-2, -2, -2): i % 2 is of -2, and"),
        ("1.0 + (i", "(i % 2 if i < 0 else 1.0) + (i", "at (-2, -2, -2): i % 2 is of -2, and"),
        ("1.0 + (i", "(9 % (i - 40)) + (i", "at (-2, -2, -2): 9 % (i - 40) is of -42, and"),
        ("0.1*i/I", "i // 2", "x.yaml:6:19: on a grid of 5 x 6 x 7: at (-2, -2, -2): i // 2 is"),
        ("initial:", "inital:", "unknown key 'inital'; expected one of body, coefficients"),
        ("stencil/1", "stencil/2", "x.yaml:1:9: version '2' of autotune.stencil is not known"),
    ],
)  # fmt: skip
def test_faults_of_a_stencil_have_their_place(tmp_path, old, new, fault):
    found = faults(tmp_path, config.stencil, changed(STENCIL, old, new))
    assert any(fault in text for text in found), found


def test_a_stencil_reads_neighbours(tmp_path):
    text = STENCIL.splitlines()
    text[6] = 'body: "c*u[k][j][i]"'
    (fault,) = faults(tmp_path, config.stencil, "\n".join(text))
    assert fault.startswith("x.yaml:7:7: the body reads no neighbour")
    text[6] = 'body: "c"'
    (fault,) = faults(tmp_path, config.stencil, "\n".join(text))
    assert "reads no element of u" in fault


# --- skeletons ------------------------------------------------------------------------------


def test_the_skeleton_of_a_sweep_is_read(tmp_path):
    skeleton = config.skeleton(write(tmp_path, SKELETON))
    assert skeleton.family == "stencil"
    assert config.skeleton("pirk").family == "ivp"
    assert skeleton.kernels["sweep"].evaluation == Application(argument="u")
    assert skeleton.steps == (CallStep("sweep"), SyncStep(), SwapStep("u", "v"))


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("v: [grid]", "v: [n]", "x.yaml:5:21: v: [n] beside a grid; expected [grid] everywhere"),
        ("x: grid", "x: n", "x.yaml:4:17: x: n beside a grid; expected grid everywhere"),
        ("stencil: {argument: u}", "value: \"u[x]\"", "x.yaml:7:3: sweep applies no stencil"),
        ("argument: u", "argument: w", "x.yaml:7:59: unknown array 'w'; expected one of u, v"),
        ("argument: u", "argument: v", "x.yaml:7:59: sweep reads and writes v"),
        ("swap: [u, v]", "swap: [u, w]", "x.yaml:11:15: unknown array of the grid 'w'"),
        ("swap: [u, v]", "swap: [u, u]", "x.yaml:11:5: u is exchanged with itself"),
        ("swap: [u, v]", "swap: [u]", "x.yaml:11:5: swap: 1 values; expected at least 2"),
        ("swap: [u, v]", "comm: w", "x.yaml:11:11: unknown stored array 'w'; expected one of u, v"),
    ],
)  # fmt: skip
def test_faults_of_a_grid_skeleton_have_their_place(tmp_path, old, new, fault):
    found = faults(tmp_path, config.skeleton, changed(SKELETON, old, new))
    assert any(fault in text for text in found), found


def test_a_stencil_needs_a_grid(tmp_path):
    text = SKELETON.replace("grid", "n")
    found = faults(tmp_path, config.skeleton, text)
    assert any("a stencil is applied, but no dimension is the grid" in each for each in found)


# --- spaces ---------------------------------------------------------------------------------


def test_blocks_and_unrolling_are_rules_of_a_space(tmp_path):
    space = config.generated(write(tmp_path, SPACE)).space
    (chosen,) = [v for v in space.combinations() if v == {"bj": 8, "u": 2, "pad": 0}]
    assert space.transformations(chosen) == (
        Block("sweep", "j", 8),
        Unroll("sweep", "i", 2),
        Pad(0),
    )
    plain = space.transformations({"bj": "none", "u": 1, "pad": 0})
    assert plain == (Pad(0),), "none is no block"


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("when: {bj: 8}", "when: {bj: 16}", "bj: the number 16 is not one of its values"),
        (", when: {bj: 8}", "", "x.yaml:6:6: block: size must be a whole number, not 'none'"),
        ("[none, 8]", "[none, -8]", "a block needs at least one point, not -8"),
        ("u: [1, 2]", "u: [1, 0, 2]", "u: the number 2 is not"),
        ("dimension: j", "dimension: jj", "x.yaml:6:6: a dimension is named by one small letter"),
        ("dimension: j", "axis: j", "unknown key 'axis'; expected one of dimension, kernel, size"),
        ("{kernel: sweep, dimension: j", "{kernel: sweeep, dimension: j",
         "x.yaml:6:22: unknown kernel 'sweeep'; expected one of sweep (did you mean sweep?)"),
        ("block: {kernel: sweep, dimension: j, size: $bj}", "tile: {kernel: sweep, size: $bj}",
         "x.yaml:6:21: tile: sweep applies a stencil; expected one of block, unroll, wavefront,"
         " overlap, stream, pad"),
        ("skeleton: jacobi", "skeleton: pirk", "unknown kernel 'sweep'"),
    ],
)  # fmt: skip
def test_faults_of_a_space_of_blocks_have_their_place(tmp_path, old, new, fault):
    text = changed(SPACE, old, new)
    if "-8" in new:
        text = text.replace("bj: 8", "bj: -8")
    if "[1, 0, 2]" in new:
        text = text.replace("when: {u: 2}", "when: {u: 0}")
        fault = "a loop is unrolled at least once, not 0 times"
    found = faults(tmp_path, config.generated, text)
    assert any(fault in each for each in found), found


def test_blocks_are_not_for_kernels_on_components(tmp_path):
    text = SPACE.replace("skeleton: jacobi", "skeleton: pirk").replace("sweep", "lc")
    found = faults(tmp_path, config.generated, text)
    assert any("block: lc applies no stencil; expected one of interchange" in f for f in found)


# --- studies --------------------------------------------------------------------------------


def test_a_study_of_stencils_is_read(tmp_path):
    setup = config.load(write(tmp_path, STUDY))
    assert setup.skeleton.name == "jacobi"
    assert [problem.label for problem in setup.problems] == [
        "star3d-7pt-N96",
        "star3d-7pt-K24-J1500-I1600",
        "star2d-5pt-J200-I100",
    ]
    assert [p.size_text for p in setup.problems] == ["96x96x96", "24x1500x1600", "200x100"]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("star3d-7pt, size: 96", "star3d-7p, size: 96",
         "x.yaml:5:15: unknown stencil 'star3d-7p'; expected one of box2d-9pt"),
        ("{i: 100, j: 200}", "{i: 100, j: 200, k: 3}",
         "x.yaml:7:50: grid: star2d-5pt has no dimension 'k'; expected one of j, i"),
        ("{i: 100, j: 200}", "{i: 100}", "x.yaml:7:27: grid: no points of j; expected each of j"),
        ("{i: 100, j: 200}", "{i: 100, j: 0}", "x.yaml:7:45: j: the number 0; expected at least 1"),
        ("{i: 100, j: 200}", "{i: 100, j: 2.5}", "x.yaml:7:45: j: the number 2.5; expected"),
        ("{i: 100, j: 200}", "[100, 200]", "grid: a list; expected keys and values"),
        ("star3d-7pt, size: 96", "star3d-r4, size: 3",
         "x.yaml:5:32: size: 3 points are fewer than the radius of star3d-r4; expected at least 4"),
        ("i: 1600, j: 1500, k: 24", "i: 3, j: 4, k: 24", "at least"),
        ("size: 96", "size: 96, grid: {i: 1, j: 1, k: 1}", "x.yaml:5:5: both grid and size"),
        ("star3d-7pt, size: 96", "star3d-7pt", "x.yaml:5:5: neither grid nor size is given;"
         " expected one of grid: {i: 96, j: 96, k: 96} and size: 96"),
        ("size: 96", "size: 96, method: radau-iia-5", "x.yaml:5:37: unknown key 'method'; expected"
         " one of grid, size, stencil"),
        ("stencil: star2d-5pt", "stensil: star2d-5pt", "x.yaml:7:6: unknown key 'stensil'; expected"
         " one of grid, size, stencil (did you mean stencil?)"),
        ("{stencil: star3d-7pt, size: 96}", "{ivp: heat2d, method: radau-iia-5, size: 9}",
         "x.yaml:5:11: an IVP with the skeleton jacobi; expected a stencil"),
        ("size: 96", "size: 96}\n  - {stencil: star3d-7pt, size: 96", "problems: the same again"),
        ("size: 96", "size: 96}\n  - {stencil: star3d-7pt, grid: {k: 96, j: 96, i: 96}",
         "x.yaml:6:5: problems: the same again; expected each once (first at"),
        ("stencil-small", "pirk-small", "x.yaml:5:15: a stencil with the skeleton pirk; expected an"
         " IVP"),
    ],
)  # fmt: skip
def test_faults_of_a_study_of_stencils_have_their_place(tmp_path, old, new, fault):
    if "i: 3, j: 4" in new:
        text = changed(changed(STUDY, old, new), "star3d-7pt, grid", "star3d-r4, grid")
        fault = "x.yaml:6:36: i: 3 points are fewer than the radius of star3d-r4"
    else:
        text = changed(STUDY, old, new)
    found = faults(tmp_path, config.load, text)
    assert any(fault in each for each in found), found


def test_a_faulty_stencil_of_an_unreadable_study_is_named_too(tmp_path):
    (tmp_path / "bad.yaml").write_text(STENCIL.replace("u[k-2]", "v[k-2]"), encoding="utf-8")
    text = STUDY.replace("star3d-7pt, size", "bad.yaml, size").replace("space:", "spaze:")
    found = faults(tmp_path, config.load, text)
    assert any("is the target of the sweep" in each for each in found), found
