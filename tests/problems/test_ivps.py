"""What every initial value problem that comes along must keep."""

from dataclasses import replace

import numpy as np
import pytest

from autotune import paths
from autotune.domain.problem import Problem, offset
from autotune.files import config
from autotune.language.expression import number, parse
from autotune.measuring.verification import ivp_reference

NAMES = paths.names("kernels/ivp")
LIMITED = {
    "advection", "brusselator2d-mix", "fitzhugh-nagumo", "heat2d", "heat3d", "inverterchain",
    "string-mix", "wave1d",
}  # fmt: skip
GRIDS = {"brusselator2d": 2, "brusselator2d-mix": 2, "heat2d": 2, "heat3d": 3}
"""The number of dimensions; N points in each."""
NORMAL = np.finfo(float).tiny


def problem(name, size):
    return Problem(
        ivp=config.ivp(name), method=config.method("radau-iia-7"), correctors=6, size=size
    )


def small(name):
    return chosen(name, 26, 7, 5)


def chosen(name, chain, square, cube):
    """A size for the number of dimensions of a problem."""
    return (chain, square, cube)[GRIDS.get(name, 1) - 1]


def jacobian(f, t, y):
    """By central differences."""
    columns = []
    for j in range(y.size):
        step = 1e-6 * max(1.0, abs(y[j]))
        up, down = y.copy(), y.copy()
        up[j] += step
        down[j] -= step
        columns.append((f(t, up) - f(t, down)) / (2 * step))
    return np.column_stack(columns)


def test_the_shipped_problems_are_there():
    assert {*LIMITED, *GRIDS, "flock", "medakzo", "string-row"} <= set(NAMES)
    assert {name for name in NAMES if config.ivp(name).limited} == LIMITED


@pytest.mark.parametrize("name", NAMES)
def test_regions_cover_every_component_once(name):
    ivp = config.ivp(name)
    for size in (*range(ivp.minimum, ivp.minimum + 9), 64, 100):
        assert not list(ivp.miscovered(size))


@pytest.mark.parametrize("name", NAMES)
def test_the_interior_is_the_big_part_and_free_of_conditions(name):
    ivp = config.ivp(name)
    size = chosen(name, 1000, 40, 50)
    parts = [(sum(map(len, ivp.members(region, size))), region) for region in ivp.regions]
    n = sum(count for count, _ in parts)
    big = [region for count, region in parts if count >= 0.1 * n]
    assert sum(count for count, region in parts if region in big) >= 0.85 * n
    assert not any(" if " in str(region.body) for region in big)


@pytest.mark.parametrize("name", NAMES)
def test_bodies_reach_exactly_the_access_distance(name):
    ivp = config.ivp(name)
    size = small(name)
    f = ivp_reference.rhs(ivp, size)
    y = ivp_reference.initial(ivp, size)
    reads = np.argwhere(jacobian(f, ivp.start, y))
    distances = np.abs(reads[:, 0] - reads[:, 1])
    if ivp.periodic:
        distances = np.minimum(distances, y.size - distances)
    assert distances.max() == ivp.distance(size)


@pytest.mark.parametrize("name", NAMES)
def test_stability_bounds_the_spectral_radius_closely(name):
    trial = problem(name, small(name))
    bound = trial.step_fraction / trial.h
    f = ivp_reference.rhs(trial.ivp, trial.size)
    radii = []
    for steps in (0, 60):
        y = ivp_reference.integrate(trial, steps)
        J = jacobian(f, trial.ivp.start + steps * trial.h, y)
        radii.append(np.abs(np.linalg.eigvals(J)).max())
    assert max(radii) <= bound * (1 + 1e-6)
    assert max(radii) >= 0.25 * bound


@pytest.mark.parametrize("name", NAMES)
def test_states_stay_finite_and_free_of_denormals(name):
    trial = problem(name, chosen(name, 150, 9, 5))
    start = ivp_reference.initial(trial.ivp, trial.size)
    for y in (start, ivp_reference.integrate(trial, 200)):
        assert np.isfinite(y).all()
        assert np.abs(y).max() <= 4 * np.abs(start).max()
        sizes = np.abs(y[y != 0])
        assert sizes.min() >= NORMAL


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_corrector_step_would_be_noticed(name):
    trial = problem(name, chosen(name, 200, 20, 7))
    full = ivp_reference.integrate(trial, 3)
    short = ivp_reference.integrate(replace(trial, correctors=trial.correctors - 1), 3)
    assert np.abs(full - short).max() > 2e-12 * np.abs(full).max()


@pytest.mark.parametrize("name", ["heat2d", "wave1d", "inverterchain"])
def test_physical_bounds_hold(name):
    trial = problem(name, small(name))
    y0 = ivp_reference.initial(trial.ivp, trial.size)
    y = ivp_reference.integrate(trial, 100)
    if name == "heat2d":
        assert y.min() >= y0.min() - 1e-12
        assert y.max() <= y0.max() + 1e-12
    elif name == "wave1d":
        energy = ((y0 - 1) ** 2).sum()
        assert ((y - 1) ** 2).sum() == pytest.approx(energy, rel=1e-6)
    else:
        assert y.min() >= 0
        assert y.max() <= 5


def test_size_below_the_minimum_is_refused():
    with pytest.raises(ValueError, match="below the smallest size of wave1d; expected at least 9"):
        problem("wave1d", 8)


def test_a_distance_that_holds_at_small_sizes_only_is_refused_at_a_larger_one():
    small_ones = replace(config.ivp("heat2d"), access_distance=parse("min(N, 60)"))
    at = replace(problem("heat2d", 60), ivp=small_ones)
    with pytest.raises(
        ValueError,
        match=r"size: heat2d: region .*: y\[j - N\] reaches 61, farther"
        " than the access distance 60, at N = 61",
    ):
        replace(at, size=61)


def test_step_size_is_the_stated_fraction_of_the_stability_bound():
    trial = problem("heat2d", 11)
    assert trial.h == pytest.approx(0.1 / 800)
    assert replace(trial, step_fraction=0.5).h == pytest.approx(0.5 / 800)


@pytest.mark.parametrize(
    "regions",
    [["[0, n - 1)"], ["[0, 3)", "[2, n)"], ["[0, n + 1)"], ["[0, 8)", "[8, n - 8)", "[n - 8, n)"]],
)
def test_regions_with_gaps_overlaps_or_too_large_a_minimum_are_refused(regions):
    ivp = config.ivp("inverterchain")
    made = []
    for text in regions:
        lower, upper = (parse(part) for part in text[1:-1].split(","))
        made.append(replace(ivp.regions[1], lower=lower, upper=upper))
    with pytest.raises(ValueError, match=r"overlap|no region covers|leaves"):
        replace(ivp, regions=tuple(made))


def test_stability_bound_must_be_positive():
    with pytest.raises(ValueError, match=r"stability: at N = .*: 4.0 - N is not positive"):
        replace(config.ivp("heat2d"), stability=parse("4.0 - N"))


def test_offset_of_a_reference():
    assert offset(parse("y[j - N + 1]"), {"N": 10}) == -9
    for text in ("y[2*j]", "y[j*j]", "y[j % N]", "y[j + 0.5]", "y[3]", "y[j + t]"):
        with pytest.raises(ValueError, match=r"is not y\[j \+ offset\]|unknown symbol"):
            offset(parse(text), {"N": 1000})


def test_constants_are_numbers_at_a_size():
    values = config.ivp("string-mix").values(9)
    assert values["n"] == 18
    assert values["dx"] == pytest.approx(0.1)
    assert number(parse("K2/dx2"), values) == pytest.approx(225)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"plane": None}, r"regions\.1\.rows: rows without the size of a plane; .*the key plane"),
        (
            {"plane": "N*N + 1"},
            r"plane: at N = 3: N \* N \+ 1 = 10 is not a multiple of the row, 3",
        ),
        ({"row": None}, "planes without a row length"),
        ({"plane": "0"}, "plane: at N = 3: 0 = 0 is too small"),
    ],
)
def test_planes_are_whole_rows(changes, message):
    stated = {key: text and parse(text) for key, text in changes.items()}
    with pytest.raises(ValueError, match=message):
        replace(config.ivp("heat3d"), **stated)


@pytest.mark.parametrize(
    ("number", "change", "message"),
    [
        (1, {"lower": "P + N"}, "is not a multiple of the plane, 9"),
        (1, {"rows": ("0", "2")}, "regions overlap"),
        (5, {"rows": ("N - 1", "N + 1")}, "regions overlap"),
        (1, {"rows": ("1", "1")}, "no region covers component 9 "),
        (3, {"rows": ("1", "N - q")}, "unknown name 'q'"),
        (3, {"body": "y[j + P + N]"}, r"reaches 12, farther than the access distance 9"),
    ],
)
def test_regions_of_planes_are_checked(number, change, message):
    ivp = config.ivp("heat3d")
    stated = {
        key: parse(text) if isinstance(text, str) else tuple(map(parse, text))
        for key, text in change.items()
    }
    regions = list(ivp.regions)
    regions[number] = replace(regions[number], **stated)
    with pytest.raises(ValueError, match=message):
        replace(ivp, regions=tuple(regions))


def test_regions_name_their_rows():
    region = config.ivp("heat3d").regions[3]
    assert str(region) == "[P, n - P) rows [1, N - 1) columns [1, N - 1)"


def test_distances_of_a_periodic_problem_count_around():
    ring = config.ivp("advection")
    with pytest.raises(ValueError, match="reaches 4, farther than the access distance 2, at N = 5"):
        replace(ring, periodic=False)
    far = replace(ring.regions[0], body=parse("y[j + n - 3]"))
    with pytest.raises(ValueError, match="reaches 3, farther than the access distance 2, at N = 6"):
        replace(ring, regions=(far, *ring.regions[1:]))
    outside = replace(ring.regions[0], body=parse("y[j - 1]"))
    with pytest.raises(ValueError, match=r"leaves y\[0\] .. y\[4\] at N = 5"):
        replace(ring, regions=(outside, *ring.regions[1:]))


def test_a_ring_has_more_components_than_one_reads():
    with pytest.raises(ValueError, match="3 on either side is the whole y, which has 5 components"):
        replace(config.ivp("advection"), access_distance=parse("3"))


@pytest.mark.parametrize(
    ("text", "body", "message"),
    [
        ("y[j-1]", "s", r"regions\.0\.body: .*y\[j - 1\] leaves y\[0\]"),
        ("y[j+2]", "s", "reaches 2, farther than the access distance 1"),
        ("y[2*j]", "s", r"is not y\[j \+ a number"),
        ("z[j]", "y[j]", r"locals\.s: z\[j\] is not known; expected elements of y"),
        ("y[j] + q", "y[j]", "locals.s: unknown name 'q'"),
    ],
)
def test_locals_read_what_bodies_may_read(text, body, message):
    ivp = config.ivp("inverterchain")
    first = replace(ivp.regions[0], body=parse(body))
    with pytest.raises(ValueError, match=message):
        replace(ivp, locals={**ivp.locals, "s": parse(text)}, regions=(first, ivp.regions[1]))


def test_initial_values_use_no_locals_that_read_y():
    ivp = config.ivp("inverterchain")
    start = replace(ivp.initial[0], body=parse("1.0 + s"))
    with pytest.raises(ValueError, match=r"a local reads y\[j\], which initial values set"):
        replace(ivp, locals={**ivp.locals, "s": parse("y[j]")}, initial=(start,))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"body": parse("y[q] - y[j]")}, r"sums\.pull\.body: unknown name 'q'"),
        ({"body": parse("y[i] - y[j]")}, r"sums\.pull\.body: unknown name 'i'"),
        ({"body": parse("F[k]")}, r"sums\.pull\.body: F\[k\] is not known"),
        ({"body": parse("y[2*k]")}, r"y\[2 \* k\] is not y\[k \+ a number"),
        ({"body": parse("y[j+k]")}, r"y\[j \+ k\] is not y\[k \+ a number"),
        (
            {"body": parse("y[k-1]")},
            r"sums\.pull\.body: y\[k - 1\] is y\[-1\] .. y\[0\], allowed: y",
        ),
        ({"body": parse("y[k+N+1]")}, r"allowed: y\[0\] .. y\[3\], at N = 2"),
        ({"body": parse("y[j+1]*y[k]")}, r"y\[j \+ 1\] leaves y\[0\] .. y\[3\] at N = 2"),
        ({"upper": parse("n + 1")}, r"y\[k \+ N\] is y\[2\] .. y\[6\], allowed: y\[0\] .. y\[3\]"),
        ({"upper": parse("j")}, r"sums\.pull\.range: unknown name 'j'"),
        ({"lower": parse("N")}, r"sums\.pull\.range: .* 2 .. 1 of k is empty: at least one index"),
        (
            {"upper": parse("N/4")},
            r"sums\.pull\.range: at N = 2: N / 4 = 0.5 is not a whole number",
        ),
        (
            {"index": "j"},
            r"index: the name 'j' is taken by the index of a component; expected another letter",
        ),
        ({"index": "K"}, r"sums\.pull\.index: 'K' is not an index; expected one small letter"),
        ({"index": "kk"}, "expected one small letter"),
    ],
)
def test_sums_are_checked(changes, message):
    flock = config.ivp("flock")
    with pytest.raises(ValueError, match=message):
        replace(flock, sums={"pull": replace(flock.sums["pull"], **changes)})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"limited": True}, r"limited: limited, but the sum pull reads y\[k\] wherever j is"),
        ({"periodic": True}, "periodic: periodic, but the sum pull reads"),
        ({"access_distance": parse("N")}, r"y\[k\] reaches 3, farther than the access distance 2"),
        ({"locals": {"pull": parse("1.0")}}, r"sums\.pull: the name 'pull' is taken by a local"),
        ({"locals": {"k": parse("1.0")}}, r"sums\.pull\.index: the name 'k' is taken by a local"),
        ({"locals": {"p": parse("pull")}}, r"locals\.p: unknown name 'pull'"),
        ({"sums": {}}, r"regions\.1\.body: unknown name 'pull'"),
    ],
)
def test_sums_must_suit_the_problem(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(config.ivp("flock"), **changes)


def test_initial_values_know_no_sum():
    flock = config.ivp("flock")
    first = replace(flock.initial[0], body=parse("pull"))
    with pytest.raises(ValueError, match=r"initial\.0\.body: unknown name 'pull'"):
        replace(flock, initial=(first, flock.initial[1]))


def test_a_problem_with_another_sum_computes_something_else():
    flock = problem("flock", 9)
    wider = replace(flock.ivp.sums["pull"], body=parse("(y[k+N] - y[j])*0.5"))
    other = replace(flock, ivp=replace(flock.ivp, sums={"pull": wider}))
    assert flock.definition != other.definition
