"""Limits that are plain, beside CasADi's own numbers."""

import casadi as ca
import numpy as np
import pytest
from trisweep.ocp.stages.plain_limits import plain_limits


def test_plain_limits_are_those_of_casadi():
    p, rng = ca.SX.sym("p", 4), np.random.default_rng(0)
    limits = ca.vertcat(p[2], 1.5, 0.1 + p[0], p[3] - 0.3, 0.7 - p[1], -ca.inf, ca.inf)
    plain = plain_limits(limits, p)
    function = ca.Function("limits", [p], [limits])
    for values in rng.standard_normal((20, 4)):
        np.testing.assert_array_equal(plain.at(values), np.ravel(function(values)))
    many = rng.standard_normal((3, 5, 4))
    assert plain.at(many).shape == (3, 5, 7)
    np.testing.assert_array_equal(plain.at(many)[2, 4], plain.at(many[2, 4]))
    assert plain_limits(ca.SX([1, 2]), ca.SX(0, 1)).at(np.zeros((2, 0))).tolist() == [[1, 2], [1, 2]]


@pytest.mark.parametrize("limit", [lambda p: 2 * p, lambda p: p + p, lambda p: (p + 1) * 2, ca.sin, lambda p: -p])
def test_what_is_more_than_plain_is_left_to_casadi(limit):
    p = ca.SX.sym("p")
    assert plain_limits(limit(p), p) is None
    assert plain_limits(ca.SX.sym("other"), p) is None
