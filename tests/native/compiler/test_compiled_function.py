"""Compiled functions as objects of Python: shapes, sparsity, refusals, threads."""

from concurrent.futures import ThreadPoolExecutor

import casadi as ca
import numpy as np
import pytest
from support.sx_functions import by_casadi, no_cache, random_function, samples  # noqa: F401
from trisweep.native import Sizes, compile_function


def matrix_function():
    x, A = ca.SX.sym("x", 3), ca.SX.sym("A", ca.Sparsity.lower(3))
    return ca.Function("f", [x, A], [A @ x, A.T * 2, ca.sumsqr(x)], ["x", "A"], ["product", "double", "square"])


def test_one_sample_in_dense_arrays_gives_dense_arrays():
    compiled = compile_function(matrix_function())
    x, A = np.array([1.0, -2.0, 3.0]), np.tril(np.arange(1.0, 10.0).reshape(3, 3))
    product, double, square = compiled(x, A)
    np.testing.assert_array_equal(product, A @ x)
    np.testing.assert_array_equal(double, 2 * A.T)
    np.testing.assert_array_equal(square, [14.0])
    for ours, casadis in zip(compiled(x.reshape(3, 1), 2), matrix_function()(x, 2)):
        np.testing.assert_array_equal(ours.reshape(casadis.shape), casadis.full())


def test_what_it_says_of_itself():
    compiled = compile_function(matrix_function(), lanes=2, name="kinetics")
    assert compiled.name == "kinetics"
    assert compiled.lanes == 2
    assert compiled.sizes == Sizes((3, 6), (3, 6, 1), compiled.sizes.work)
    expected = "CompiledFunction kinetics: (x[3], A[6]) -> (product[3], double[6], square[1]), 2 lanes"
    assert repr(compiled) == expected


def test_a_batch_takes_slices_of_arrays_integers_and_transposes():
    function = matrix_function()
    compiled = compile_function(function)
    whole = np.random.default_rng(0).normal(size=(10, 20))
    x, A = whole[::2, 4:7], whole.T[:5, :6]
    for ours, casadis in zip(compiled.batch(x, A), by_casadi(function, [x, A])):
        np.testing.assert_allclose(ours, casadis, rtol=1e-14, atol=1e-14)
    product = compiled.batch([[1, 2, 3]], np.ones((4, 6), dtype=int))[0]
    np.testing.assert_array_equal(product, [[1, 3, 6]] * 4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: f(1.0), "function 'f': got 1 inputs, expected 2"),
        (lambda f: f(np.ones(4), 1.0), "function 'f': input 'x' has shape (4,), expected (3, 1)"),
        (lambda f: f(np.ones(3), np.ones(9)), "function 'f': input 'A' has shape (9,), expected (3, 3)"),
        (
            lambda f: f.batch(np.ones(3), np.ones((1, 6))),
            "function 'f': input 'x' has shape (3,), expected (count, 3)",
        ),
        (
            lambda f: f.batch(np.ones((2, 3)), np.ones((2, 9))),
            "function 'f': input 'A' has shape (2, 9), expected (count, 6)",
        ),
        (
            lambda f: f.batch(np.ones((4, 3)), np.ones((5, 6))),
            "function 'f': input 'A' has 5 rows, expected 4 like the inputs before it, or 1",
        ),
        (
            lambda f: f.batch(np.ones((0, 3)), np.ones((5, 6))),
            "function 'f': input 'A' has 5 rows, expected 0 like the inputs before it, or 1",
        ),
    ],
)
def test_a_wrong_argument_is_answered_with_what_was_expected(call, message):
    compiled = compile_function(matrix_function())
    with pytest.raises(ValueError, match=r".") as error:
        call(compiled)
    assert str(error.value) == message
    np.testing.assert_array_equal(compiled(np.zeros(3), 0.0)[0], 0)


def test_threads_share_a_function():
    random = np.random.default_rng(1)
    function = random_function(random, 400)
    compiled = compile_function(function)
    batches = [samples(random, function, 30) for _ in range(16)]
    alone = [compiled.batch(*inputs) for inputs in batches]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda inputs: compiled.batch(*inputs), batches * 4))
    for i, results in enumerate(together):
        for ours, expected in zip(results, alone[i % 16]):
            np.testing.assert_array_equal(ours, expected)


def logistic():
    x, y, r, t = (ca.SX.sym(name, size) for name, size in (("x", 2), ("y", 3), ("r", 2), ("t", 1)))
    mixed = ca.vertcat(ca.sin(y[1]) + t, y[2] * x[0], y[0])
    return ca.Function(
        "f", [x, y, r, t], [r * x * (1 - x), mixed, x + t], ["x", "y", "r", "t"], ["x_next", "y_next", "sum"]
    )


@pytest.mark.parametrize("count", [0, 1, 2, 57])
def test_samples_one_after_the_other_are_those_of_a_loop(count):
    function = logistic()
    compiled = compile_function(function, lanes=1)
    x, y, r = np.array([0.3, 0.6]), np.array([0.1, 0.2, 0.3]), np.array([[3.7, 3.9]])
    t = np.linspace(0, 1, 2 * count).reshape(count, 2)[:, :1]
    xs, ys, sums = compiled.iterate(count, x, y, r, t, carried=2)
    assert (xs.shape, ys.shape, sums.shape) == ((count + 1, 2), (count + 1, 3), (count, 2))
    for k in range(count):
        np.testing.assert_array_equal(xs[k], x)
        np.testing.assert_array_equal(ys[k], y)
        x, y, total = compiled(x, y, r[0], t[k])
        np.testing.assert_array_equal(sums[k], total)
    np.testing.assert_array_equal(xs[count], x)
    np.testing.assert_array_equal(ys[count], y)


def test_an_iteration_that_cannot_be_is_refused():
    inputs = np.ones(2), np.ones(3), np.ones((1, 2)), np.ones((5, 1))
    with pytest.raises(ValueError, match="function 'f' has 2 lanes, expected 1"):
        compile_function(logistic(), lanes=2).iterate(5, *inputs, carried=2)
    compiled = compile_function(logistic(), lanes=1)
    with pytest.raises(ValueError, match=r"its first 4 inputs have \(2, 3, 2, 1\) entries, its outputs \(2, 3, 2\)"):
        compiled.iterate(5, *inputs, carried=4)
    with pytest.raises(ValueError, match="input 't' has 5 rows, expected 4 or 1"):
        compiled.iterate(4, *inputs, carried=2)
