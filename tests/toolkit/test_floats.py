"""What counts as numbers."""

import datetime
from decimal import Decimal
from fractions import Fraction

import casadi as ca
import numpy as np
import pytest
import trisweep as ts
from trisweep.floats import floats


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (3, 3.0),
        (True, 1.0),
        ([1, 2.5], [1.0, 2.5]),
        ([[1], [2]], [[1.0], [2.0]]),
        ("1e-3", 1e-3),
        (2**70, 2.0**70),
        ([Decimal("0.5"), Fraction(1, 4)], [0.5, 0.25]),
        (np.float32(0.5), 0.5),
        (np.zeros((0, 3)), np.zeros((0, 3))),
        ([np.nan, np.inf], [np.nan, np.inf]),
        (ca.DM([1, 2]), [[1.0], [2.0]]),
        (ca.SX(3), 3.0),
    ],
)
def test_numbers(given, expected):
    found = floats(given)
    assert found.dtype == float and found.shape == np.shape(expected)
    np.testing.assert_array_equal(found, expected)


def test_they_are_a_copy():
    given = np.ones(2)
    floats(given)[0] = 5.0
    assert given[0] == 1.0


DATE = np.datetime64("2026-01-01")


@pytest.mark.parametrize(
    "given",
    [DATE, [DATE], [1.0, DATE], np.timedelta64(3, "s"), datetime.date(2026, 1, 1), 1j, np.array([1j]), None,
     [1.0, None], [[1], [1, 2]], 10**400, "a", b"x", {}, print, ca.SX.sym("x"), ca.SX.sym("x", 2), ca.MX.sym("x")],
)  # fmt: skip
def test_what_is_no_number(given):
    with pytest.raises(TypeError, match="no numbers"):
        floats(given)


@pytest.mark.parametrize("given", [DATE, np.array([1j])])
def test_every_door_refuses_dates_and_complex_numbers(given):
    """Days since 1970 were taken for radians, and half of a complex number was lost with a warning."""
    ocp = ts.Problem(steps=3, step=0.1)
    x, u, p = ocp.state("x"), ocp.control("u"), ocp.parameter("p")
    ocp.derivative(x=u)
    ocp.minimize(u**2 + p * u)
    with pytest.raises(ts.ProblemError, match=r"'more': lower is .*, expected numbers"):
        ocp.constrain("more", x, lower=given)
    solver = ocp.build()
    with pytest.raises(ts.ProblemError, match=r"'p' is .*, expected numbers"):
        solver.solve(p=given)
    with pytest.raises(ts.ProblemError, match="expected numbers"):
        solver.solve_many(p=given, progress=False)
    arm = ts.robot("iiwa14")
    with pytest.raises(ts.ModelError, match=r"q is of type .*, expected numbers"):
        arm.mass_matrix(given)
    with pytest.raises(ts.ModelError, match="expected numbers"):
        ts.Scene().sphere("ball", given, (0, 0, 0))
