"""Implicit nodes without bodies: graphs of nodes, variants of the Hessian, structure, and answers to misuse."""

import gc
import weakref

import casadi as ca
import numpy as np
import pytest
from trisweep.adjoint import Derivatives, NodeError, check, expand, implicit, inexact, keep, nodes_of, relocate, solved


def kepler(mean, eccentricity, iterations=12):
    """Kepler's equation E - e sin E = M, solved by Newton's method."""
    E, start = ca.SX.sym("E"), mean
    for _ in range(iterations):
        start = start - (start - eccentricity * ca.sin(start) - mean) / (1 - eccentricity * ca.cos(start))
    return implicit("Kepler", E, E - eccentricity * ca.sin(E) - mean, start)


def linear(name, A, b):
    """The solution of A y = b, a node with the default inverse."""
    y = ca.SX.sym(name, b.numel())
    return implicit(name, y, A @ y - b, ca.solve(A, b))


def agrees(result):
    assert max(result.automatic.values()) < 1e-9, result
    assert max(result.differences.values()) < 1e-7, result


def test_one_node():
    x = ca.SX.sym("x", 2)
    E = kepler(x[0], 0.3 + 0.1 * x[1])
    agrees(check(x, ca.vertcat(E * E, x[0] * ca.cos(E), E), np.array([0.7, 0.4])))


def test_nested_chained_and_shared_nodes():
    """A diamond: two nodes on one, a fourth on both, outputs on all of them."""
    x, p = ca.SX.sym("x", 3), ca.SX.sym("p", 2)
    first = kepler(x[0], 0.2 * p[0])
    left = kepler(first + x[1], 0.5)
    A = ca.vertcat(ca.horzcat(3 + first, x[2]), ca.horzcat(ca.sin(x[1]), 4.0))
    right = linear("right", A, ca.vertcat(x[0] * first, p[1] + x[1]))
    last = linear("last", ca.diag(ca.vertcat(2 + left**2, 3 + right[0] ** 2)), ca.vertcat(right[1], left))
    outputs = ca.vertcat(last[0] * left, last[1] + right[0] * first, x[2] * right[1], x[0])
    agrees(check(x, outputs, np.array([0.3, -0.4, 0.8]), p, np.array([1.2, 0.5])))


def test_implicit_midpoint_by_newton():
    """A pendulum's implicit midpoint step, the solver an unrolled Newton iteration over both unknowns."""
    x, u, h = ca.SX.sym("x", 2), ca.SX.sym("u"), 0.2

    def rate(s):
        return ca.vertcat(s[1], -ca.sin(s[0]) - 0.1 * s[1] ** 3 + u)

    y = ca.SX.sym("y", 2)
    residual = y - x - h * rate((x + y) / 2)
    newton = ca.Function("newton", [y, x, u], [y - ca.solve(ca.jacobian(residual, y), residual)])
    solution = x
    for _ in range(6):
        solution = newton(solution, x, u)
    implicit("midpoint", y, residual, solution)
    agrees(check(ca.vertcat(u, x), ca.vertcat(y, ca.sumsqr(y)), np.array([0.3, 1.1, -0.7])))


def test_outputs_without_nodes():
    x = ca.SX.sym("x", 2)
    agrees(check(x, ca.vertcat(x[0] ** 3 * x[1], ca.exp(x[0])), np.array([0.5, 1.5])))


def test_results_know_neither_unknowns_nor_repeated_work():
    x, eta = ca.SX.sym("x", 2), ca.SX.sym("eta", 2)
    y = kepler(x[0], 0.3 * x[1])
    e = expand(x, ca.vertcat(y, y * x[1]), eta)
    for part in (e.values, e.jacobian, e.gradient, e.hessian):
        assert nodes_of(part) == []
    values = ca.Function("values", [x, eta], [e.values]).n_instructions()
    everything = ca.Function("all", [x, eta], [e.values, e.jacobian, e.gradient, e.hessian]).n_instructions()
    assert everything < 2 * values


def test_structural_zeros_are_kept_and_the_halves_of_the_hessian_are_one():
    x, eta = ca.SX.sym("x", 4), ca.SX.sym("eta", 2)
    e = expand(x, ca.vertcat(kepler(x[0], 0.3), x[2] * x[3]), eta)
    assert e.jacobian.nnz() == 3
    assert e.hessian.nnz() == 3
    assert e.hessian[2, 3].element_hash() == e.hessian[3, 2].element_hash()


def test_gradient_and_hessian_need_multipliers():
    x = ca.SX.sym("x", 2)
    e = expand(x, kepler(x[0], 0.3) * x[1])
    assert e.gradient is None and e.hessian is None


def test_the_variants_of_the_hessian():
    """f = (objective 1/2 y^2, constraint x1^2 + y): what each variant keeps, by hand."""
    x, eta = ca.SX.sym("x", 2), ca.SX.sym("eta", 2)
    y = implicit("root", root := ca.SX.sym("y"), root**2 - x[0], ca.sqrt(x[0]))
    outputs = ca.vertcat(y**2 / 2, x[1] ** 2 + y)
    at, weights = np.array([4.0, 3.0]), np.array([2.0, 5.0])
    slope = 0.25  # dy/dx0 = 1 / (2 y)
    expected = {
        "exact": [[5 * -1 / 32, 0], [0, 10]],
        "no-dynamics": [[2 * slope**2, 0], [0, 10]],
        "gauss-newton": [[2 * slope**2, 0], [0, 0]],
    }
    for variant, matrix in expected.items():
        e = expand(x, outputs, eta, hessian=variant)
        found = ca.Function("f", [x, eta], [e.hessian])(at, weights).full()
        np.testing.assert_allclose(found, matrix, atol=1e-14)


def test_multipliers_that_rest_on_nodes_are_constants():
    x = ca.SX.sym("x", 2)
    e = expand(x, ca.sin(x[0]) * x[1], kepler(x[0], 0.3))
    at = np.array([0.9, 1.3])
    eta, hessian = (result.full() for result in ca.Function("f", [x], [solved(kepler(x[0], 0.3)), e.hessian])(at))
    expected = eta.item() * np.array([[-np.sin(0.9) * 1.3, np.cos(0.9)], [np.cos(0.9), 0]])
    np.testing.assert_allclose(hessian, expected, atol=1e-14)


def test_solved_leaves_other_symbols_alone():
    x = ca.SX.sym("x")
    y = kepler(x, 0.3)
    E = float(ca.Function("f", [x], [solved(y * 1.0)])(0.9))
    assert abs(E - 0.3 * np.sin(E) - 0.9) < 1e-14


X, Y = ca.SX.sym("x", 2), ca.SX.sym("y", 2)


@pytest.mark.parametrize(
    "misuse, sentence",
    [
        (
            lambda: implicit("a", Y, ca.SX.sym("g", 3), X),
            r"node 'a': residual has shape \(3, 1\), expected \(2, 1\)",
        ),
        (lambda: implicit("a", Y, Y - X, X[0]), r"node 'a': solution has shape \(1, 1\), expected \(2, 1\)"),
        (
            lambda: implicit("a", Y, Y - X, X, ca.SX.eye(3)),
            r"node 'a': inverse has shape \(3, 3\), expected \(2, 2\)",
        ),
        (lambda: implicit("a", Y, Y - X, X, sizes=X[0]), r"node 'a': sizes has shape \(1, 1\), expected \(2, 1\)"),
        (lambda: implicit("a", Y, Y - X, 2 * Y), "solution contains the node's own unknown 'y_0'"),
        (
            lambda: implicit("a", 2 * Y, Y - X, X),
            "node 'a': unknowns are .*, expected a column of distinct symbols",
        ),
        (lambda: implicit("a", Y, ca.vertcat(Y[0], Y[0]) - X, X), "undetermined, expected dg/dy invertible"),
        (
            lambda: implicit("a", kepler(X[0], 0.1), X[1], X[1]),
            "unknowns contain those of node 'Kepler', expected fresh symbols",
        ),
        (lambda: expand(2 * X, X), "expand: variables are .*, expected a column of distinct symbols"),
        (lambda: expand(kepler(X[0], 0.1), X), "variables contain unknowns of node 'Kepler'"),
        (lambda: expand(X, X.T), r"outputs have shape \(1, 2\), expected a column"),
        (lambda: expand(X, X, ca.SX.sym("eta", 3)), r"multipliers have shape \(3, 1\), expected \(2, 1\)"),
        (lambda: expand(X, X, X, hessian="bfgs"), "hessian is 'bfgs', expected one of exact, gauss-newton"),
        (lambda: check(X, X, np.zeros(3)), r"check: at has shape \(3,\), expected \(2,\)"),
        (
            lambda: check(X, X + Y, np.zeros(2)),
            "outputs depend on 'y_0', which is neither a variable nor a parameter",
        ),
    ],
)
def test_misuse_is_answered_with_a_sentence(misuse, sentence):
    with pytest.raises(NodeError, match=sentence):
        misuse()


def test_nodes_inside_a_node():
    """a = cos(b x) and its square root c lie inside b - c / 2 = x; outputs use the inner unknowns too."""
    x, a, b, c = (ca.SX.sym(name) for name in "xabc")
    implicit("inner", a, a**3 - (2 + ca.cos(b * x)) ** 3, 2 + ca.cos(b * x))
    implicit("root", c, c**2 - a, ca.sqrt(a))
    solution = x
    for _ in range(8):
        inside = 2 + ca.cos(solution * x)
        slope = 1 + ca.sin(solution * x) * x / (4 * ca.sqrt(inside))
        solution = solution - (solution - ca.sqrt(inside) / 2 - x) / slope
    implicit("outer", b, b - c / 2 - x, solution)
    agrees(check(x, ca.vertcat(b * x, b**2), np.array([0.7])))
    agrees(check(x, ca.vertcat(b * c, a * x), np.array([0.7])))


def test_a_solution_in_terms_of_an_inner_node_is_refused():
    x, a, b = ca.SX.sym("x"), ca.SX.sym("a"), ca.SX.sym("b")
    implicit("first", a, a - b * x, b * x)
    with pytest.raises(NodeError, match="node 'second': solution contains the node's own unknown 'a'"):
        implicit("second", b, b - ca.sin(a), ca.sin(a))


def test_a_cycle_that_derivatives_of_the_users_own_hide_is_named():
    x, a, b = ca.SX.sym("x"), ca.SX.sym("a"), ca.SX.sym("b")
    implicit("first", a, a - b * x, b * x)
    implicit("second", b, b - ca.sin(a), ca.sin(a), derivatives=Derivatives(b, b - ca.sin(a)))
    with pytest.raises(NodeError, match="node 'first' on 'second' on 'first' rests on itself"):
        expand(x, a)


def test_a_refused_node_leaves_nothing_behind():
    y, x = ca.SX.sym("y"), ca.SX.sym("x")
    with pytest.raises(NodeError):
        implicit("wrong", y, y - x, y)
    implicit("right", y, y - x, x)
    assert [node.name for node in nodes_of(y)] == ["right"]


def test_a_node_that_nobody_kept_stays():
    x = ca.SX.sym("x")
    twice = 2 * kepler(x, 0.3)
    gc.collect()
    assert [node.name for node in nodes_of(twice)] == ["Kepler"]


def test_a_kept_node_lives_as_long_as_whoever_keeps_it():
    """Chained nodes, one with an inner one; of what is gone, its symbols are refused."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    first = kepler(x, 0.3)
    implicit("outer", y, y + kepler(0.1 * y, 0.2) - first, first)
    one, other = keep(ca.sin(y)), keep(y)
    gone = [weakref.ref(part) for node in one for part in (node, *node.inner)]
    assert [part().name for part in gone] == ["Kepler", "outer", "Kepler"]
    one.clear()
    gc.collect()
    assert all(part() is not None for part in gone)
    other.clear()
    gc.collect()
    assert [part() for part in gone] == [None] * 3
    with pytest.raises(NodeError, match="node 'outer': whoever kept it is gone, expected its problem to live"):
        expand(x, y * x)
    with pytest.raises(NodeError, match="node 'Kepler': whoever kept it is gone"):
        solved(first)


def test_who_may_miss_its_residual_says_so_inside_others_and_elsewhere():
    x, y, a, b, c = (ca.SX.sym(name) for name in "xyabc")
    implicit("inner", a, a**3 - b - x, b + x, sizes=ca.fabs(a**3) + ca.fabs(b + x))
    implicit("outer", b, b + a - x, x / 2)
    implicit("exact", c, c - x, x)
    assert [node.name for node in inexact(nodes_of(b + c))] == ["inner"]
    implicit("far off", y, y**2 - x, 10 * x, sizes=y**2 + ca.fabs(x))
    (node,) = inexact(nodes_of(relocate(y, x, 2 * c)))
    at = ca.Function("at", [x], [solved(ca.vertcat(node.residual, node.sizes))])
    np.testing.assert_allclose(np.array(at(3.0)).ravel(), [60.0**2 - 6.0, 60.0**2 + 6.0])
