"""sin and cos of vectors, against the C library in extended precision."""

import casadi as ca
import numpy as np
import pytest
from support.sx_functions import no_cache  # noqa: F401
from trisweep.native import compile_function
from trisweep.native.compiler.llvm_ir.vector_math import REDUCTION_LIMIT

LANES = [1, 2, 4, 8]


def compiled_sincos(lanes):
    x = ca.SX.sym("x")
    return compile_function(ca.Function("sincos", [x], [ca.sin(x), ca.cos(x)]), lanes=lanes)


def ulps(ours, exact):
    """Errors in units of the last place of the exact value."""
    nearest = exact.astype(float)
    return np.abs((ours.astype(np.longdouble) - exact) / np.spacing(np.abs(nearest)).astype(np.longdouble))


def angles():
    """Random angles of every size, and the doubles around multiples of pi/4, the hardest to reduce."""
    random = np.random.default_rng(5)
    multiples = np.arange(1, 12733) * (np.pi / 4)
    around = np.concatenate([multiples, np.nextafter(multiples, 0), np.nextafter(multiples, 1e9)])
    spread = np.concatenate([random.uniform(-1e4, 1e4, 50_000), 10.0 ** random.uniform(-20, 4, 20_000)])
    x = np.concatenate([around, -around, spread])
    return x[np.abs(x) < 1e4].reshape(-1, 1)


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="long double is no wider than double here")
@pytest.mark.parametrize("lanes", LANES)
def test_sin_and_cos_are_right_to_two_units_in_the_last_place(lanes):
    x = angles()
    sin, cos = compiled_sincos(lanes).batch(x)
    assert ulps(sin, np.sin(x.astype(np.longdouble))).max() <= 2
    assert ulps(cos, np.cos(x.astype(np.longdouble))).max() <= 2


@pytest.mark.parametrize("lanes", LANES)
def test_beyond_the_reduction_the_c_library_answers(lanes):
    x = np.array([REDUCTION_LIMIT, 1e6, -1e15, 1e22, 1e300, -np.finfo(float).max]).reshape(-1, 1)
    sin, cos = compiled_sincos(lanes).batch(x)
    np.testing.assert_allclose(sin, np.sin(x), rtol=1e-15)
    np.testing.assert_allclose(cos, np.cos(x), rtol=1e-15)


@pytest.mark.parametrize("lanes", LANES)
def test_special_angles(lanes):
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -1e-310]).reshape(-1, 1)
    sin, cos = compiled_sincos(lanes).batch(x)
    np.testing.assert_array_equal(sin, [[0.0], [-0.0], [np.nan], [np.nan], [np.nan], [5e-324], [-1e-310]])
    np.testing.assert_array_equal(np.signbit(sin[:2]), [[False], [True]])
    np.testing.assert_array_equal(cos, [[1.0], [1.0], [np.nan], [np.nan], [np.nan], [1.0], [1.0]])


def test_a_result_does_not_depend_on_the_neighbours_of_its_lane():
    x = np.random.default_rng(6).uniform(-50, 50, size=(64, 1))
    disturbed = x.copy()
    disturbed[::2] = np.array([np.nan, 1e12, np.inf, -1e8]).reshape(-1, 1)[np.arange(32) % 4]
    compiled = compiled_sincos(8)
    for alone, beside in zip(compiled.batch(x), compiled.batch(disturbed)):
        np.testing.assert_array_equal(alone[1::2], beside[1::2])
