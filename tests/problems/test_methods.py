"""Methods are data: the tableaux that come along, and what makes a tableau wrong."""

import mpmath
import pytest

from autotune import paths
from autotune.domain.problem import ButcherTableau, _Tree
from autotune.files import config

RADAU = {f"radau-iia-{2 * s - 1}": (s, 2 * s - 1) for s in range(2, 9)}
EMBEDDED = {"bogacki-shampine-3": 2, "dormand-prince-5": 4, "verner-6": 5, "dormand-prince-8": 5}
EXPLICIT = {
    "bogacki-shampine-3": (4, 3), "dormand-prince-5": (7, 5), "verner-6": (8, 6),
    "dormand-prince-8": (12, 8),
}  # fmt: skip
ORDERS = {**RADAU, "lobatto-iiic-6": (4, 6), **EXPLICIT}


def tableau(order, A, b, c, **embedded):
    return ButcherTableau(name="x", title="", order=order, A=A, b=b, c=c, source="", **embedded)


def collocation(nodes):
    """(A, b) of the collocation method with these nodes, by 40-digit linear algebra."""
    with mpmath.workdps(40):
        s = len(nodes)
        powers = mpmath.matrix([[c**k for c in nodes] for k in range(s)])
        ends = [*nodes, mpmath.mpf(1)]
        rows = [
            mpmath.lu_solve(powers, mpmath.matrix([c ** (k + 1) / (k + 1) for k in range(s)]))
            for c in ends
        ]
        plain = [tuple(float(row[j]) for j in range(s)) for row in rows]
    return tuple(plain[:-1]), plain[-1]


@pytest.mark.parametrize("name", ORDERS)
def test_method_has_its_stages_and_exactly_its_order(name):
    method = config.method(name)
    assert (method.stages, method.order) == ORDERS[name]
    assert method.proven_order() == method.order


def test_every_method_file_is_known_here():
    assert set(paths.names("kernels/method")) == set(ORDERS)


@pytest.mark.parametrize("name", RADAU)
def test_radau_coefficients_are_those_of_collocation_at_the_radau_points(name):
    method = config.method(name)
    s = method.stages
    with mpmath.workdps(40):
        for node in method.c:
            x = 2 * mpmath.mpf(node) - 1
            assert abs(mpmath.legendre(s, x) - mpmath.legendre(s - 1, x)) < 1e-14
        nodes = [
            mpmath.findroot(
                lambda c: mpmath.legendre(s, 2 * c - 1) - mpmath.legendre(s - 1, 2 * c - 1), node
            )
            for node in method.c
        ]
    A, b = collocation(nodes)
    assert method.b == pytest.approx(b, abs=1e-15)
    for row, expected in zip(method.A, A, strict=True):
        assert row == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    "name", [name for name, (s, _) in ORDERS.items() if s <= 4 and name not in EXPLICIT]
)
def test_simplifying_assumptions_and_trees_give_the_same_order(name):
    method = config.method(name)
    by_trees = method._order_by_trees(method.b)
    assert method._order_by_assumptions(method.b) == by_trees == method.order


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_weights_have_exactly_their_order(name):
    method = config.method(name)
    assert method.explicit
    assert method.embedded_order == EMBEDDED[name]
    assert method.proven_order(method.embedded) == EMBEDDED[name]


def test_only_strictly_lower_triangular_methods_are_explicit():
    assert {name for name in ORDERS if config.method(name).explicit} == set(EXPLICIT)
    assert config.method("verner-6").usual_correctors == 0
    assert config.method("radau-iia-7").usual_correctors == 6


@pytest.mark.parametrize(
    ("name", "stages"), [("bogacki-shampine-3", 3), ("dormand-prince-5", 6), ("verner-6", 7)]
)
def test_stages_for_the_embedded_weights_alone_do_not_advance(name, stages):
    method = config.method(name)
    assert method.advancing.stages == stages
    assert method.advancing.proven_order() == method.order
    assert config.method("radau-iia-5").advancing == config.method("radau-iia-5")


@pytest.mark.parametrize(
    ("embedded", "order", "message"),
    [
        ((7 / 24, 1 / 4, 1 / 3, 1 / 8), 1, "order 1 is stated, the coefficients give 2"),
        ((7 / 24, 1 / 4, 1 / 3), 2, "embedded has 3 elements.*4, as b has"),
        ((7 / 24, 1 / 4, 1 / 3, 1 / 8), None, "weights without their order"),
        (None, 2, "an order without weights"),
        ((2 / 9, 1 / 3, 4 / 9, 0), 3, "embedded_order 3 is not below the order 3"),
    ],
)
def test_wrong_embedded_weights_are_named(embedded, order, message):
    method = config.method("bogacki-shampine-3")
    with pytest.raises(ValueError, match=message):
        tableau(3, method.A, method.b, method.c, embedded=embedded, embedded_order=order)


def test_assumptions_that_do_not_suffice_leave_it_to_the_trees():
    A = ((0, 0, 0, 0), (0.5, 0, 0, 0), (0, 0.5, 0, 0), (0, 0, 1, 0))
    method = tableau(4, A, (1 / 6, 1 / 3, 1 / 3, 1 / 6), (0, 0.5, 0.5, 1))
    assert method._order_by_assumptions(method.b) is None


def test_lobatto_iiic_has_equal_first_column_and_is_stiffly_accurate():
    method = config.method("lobatto-iiic-6")
    assert [row[0] for row in method.A] == pytest.approx([method.b[0]] * 4, abs=1e-16)
    assert method.A[-1] == pytest.approx(method.b, abs=1e-16)
    assert method.c[0] == 0
    assert method.c[-1] == 1


def test_explicit_methods_have_their_order_too():
    # The classical method satisfies only C(1) and D(1), from which order 3 would follow.
    A = ((0, 0, 0, 0), (0.5, 0, 0, 0), (0, 0.5, 0, 0), (0, 0, 1, 0))
    assert tableau(4, A, (1 / 6, 1 / 3, 1 / 3, 1 / 6), (0, 0.5, 0.5, 1)).proven_order() == 4


def test_gauss_methods_reach_twice_the_number_of_stages():
    with mpmath.workdps(40):
        nodes = [(1 + x) / 2 for x in mpmath.polyroots([5, 0, -3, 0])]
    A, b = collocation(nodes)
    assert tableau(6, A, b, tuple(map(float, nodes))).proven_order() == 6


def test_one_condition_per_rooted_tree():
    euler = tableau(1, ((0,),), (1,), (0,))
    counts, trees = [], []
    for order in range(1, 8):
        grown = list(euler._grow(order, trees))
        counts.append(len(grown))
        trees += [_Tree(order, gamma, weights) for weights, gamma in grown]
    assert counts == [1, 1, 2, 4, 9, 20, 48]  # OEIS A000081


def test_wrong_row_sum_is_named():
    method = config.method("radau-iia-7")
    A = (method.A[0], (*method.A[1][:3], method.A[1][3] + 1e-9), *method.A[2:])
    with pytest.raises(ValueError, match=r"row 2 of A sums to .*: row sums of A must equal c"):
        tableau(7, A, method.b, method.c)


@pytest.mark.parametrize("order", [6, 8])
def test_wrong_order_is_named(order):
    method = config.method("radau-iia-7")
    with pytest.raises(ValueError, match=f"order {order} is stated, the coefficients give 7"):
        tableau(order, method.A, method.b, method.c)


def test_a_digit_lost_in_the_weights_is_found():
    method = config.method("lobatto-iiic-6")
    b = (method.b[0] + 1e-10, *method.b[1:])
    with pytest.raises(ValueError, match="the coefficients give 0"):
        tableau(6, method.A, b, method.c)


@pytest.mark.parametrize(
    ("A", "b", "c"),
    [
        ((), (), ()),
        (((1.0,),), (1.0,), (1.0, 1.0)),
        (((1.0, 0.0),), (1.0,), (1.0,)),
        (((float("nan"),),), (1.0,), (float("nan"),)),
        (((0.5,),), (float("nan"),), (0.5,)),
    ],
)
def test_shapes_and_numbers_that_are_no_tableau(A, b, c):
    with pytest.raises(ValueError, match=r"stage|must equal|coefficients|as b has"):
        tableau(1, A, b, c)
