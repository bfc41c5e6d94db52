"""Every operation of SX, alone, on ordinary and on special numbers."""

import itertools

import casadi as ca
import numpy as np
import pytest
from scipy import special
from support.sx_functions import by_casadi, every_operation, no_cache  # noqa: F401
from trisweep.native import compile_function

SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -3.0,
    np.inf,
    -np.inf,
    np.nan,
    5e-324,
    -1e-310,
    1e300,
    -1e308,
    1e17,
]
ORDINARY = [0.1, -0.3, 0.75, -0.99, 1.7, -2.4, 3.6, -7.9, 25.3, -140.2, 710.0, -745.5]
OPERATIONS = every_operation()


def pairs_of_numbers():
    pairs = list(itertools.product(SPECIAL + ORDINARY, repeat=2))
    return np.array(pairs)[:, :1].copy(), np.array(pairs)[:, 1:].copy()


def without_erfinv_and_printme():
    return sorted(set(OPERATIONS) - {"OP_ERFINV", "OP_PRINTME"})


def test_casadis_operations_are_found():
    assert len(OPERATIONS) >= 58
    assert {"OP_IF_ELSE_ZERO", "OP_LOG1P", "OP_HYPOT", "OP_REMAINDER", "OP_PRINTME"} <= set(OPERATIONS)


@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
@pytest.mark.parametrize("name", without_erfinv_and_printme())
def test_an_operation_gives_what_casadi_gives(name, lanes):
    function = OPERATIONS[name]
    x, y = pairs_of_numbers()
    ours = compile_function(function, lanes=lanes).batch(x, y)
    casadis = by_casadi(function, [x, y])[0]
    np.testing.assert_allclose(ours, casadis, rtol=1e-14, atol=0, equal_nan=True)
    number = ~np.isnan(casadis)
    ordered = np.ones_like(number) if name not in ("OP_FMIN", "OP_FMAX") else (x != 0) | (y != 0)
    np.testing.assert_array_equal(np.signbit(ours[number & ordered]), np.signbit(casadis[number & ordered]))


def test_the_inverse_error_function_inverts_to_the_last_digits():
    """CasADi's own is right to six digits in places, so scipy is the oracle."""
    x = np.concatenate([np.linspace(-0.999, 0.999, 4001), [1e-300, -1e-20, 0.0]]).reshape(-1, 1)
    compiled = compile_function(OPERATIONS["OP_ERFINV"])
    np.testing.assert_allclose(compiled.batch(x, x), special.erfinv(x), rtol=2e-13)
    edges = np.array([[1.0], [-1.0], [1.1], [-np.inf], [np.nan]])
    np.testing.assert_array_equal(compiled.batch(edges, edges), [[np.inf], [-np.inf], [np.nan], [np.nan], [np.nan]])
    np.testing.assert_allclose(compiled.batch(x, x), by_casadi(OPERATIONS["OP_ERFINV"], [x, x])[0], rtol=1e-5)


def test_printme_passes_its_value_on_and_prints_nothing(capfd):
    compiled = compile_function(OPERATIONS["OP_PRINTME"])
    np.testing.assert_array_equal(compiled(2.5, 7.0), [2.5])
    assert capfd.readouterr().out == ""


def test_equal_products_cancel_exactly_in_spite_of_fused_multiply_adds():
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    function = ca.Function("f", [x, y], [x * y - y * x])
    x0, y0 = np.random.default_rng(3).normal(size=(2, 40, 1))
    np.testing.assert_array_equal(compile_function(function).batch(x0, y0), 0)
