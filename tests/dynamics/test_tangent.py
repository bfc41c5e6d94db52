"""Local coordinates of the configuration manifold: a nudge undoes the increment to second order, for every joint."""

import numpy as np
import pytest
from trisweep.dynamics import random_tree
from trisweep.dynamics.files.link_values import KINDS
from trisweep.dynamics.free.tree_motion import transforms
from trisweep.dynamics.joints.tangent import increment, nudged


def gap(model, q, along, size):
    """How far the robot nudged by the increment's coordinates is from where it went."""
    there = model.integrate(q, size * along).reshape(-1, 1)
    d = increment(model, q.reshape(-1, 1), there)
    pairs = zip(nudged(model, q.reshape(-1, 1), d), transforms(model, there))
    return max(max(abs(a.R - b.R).max(), abs(a.p - b.p).max()) for a, b in pairs), d.ravel()


@pytest.mark.parametrize("kind", KINDS)
def test_a_nudge_undoes_the_chart_to_second_order(kind):
    model = random_tree(2, seed=3, kinds=(kind,))
    assert {type(joint) for joint in model.joints} == {KINDS[kind]}
    rng = np.random.default_rng(5)
    q, along = model.random_configuration(rng), rng.standard_normal(model.nv)
    (far, d), (near, _) = gap(model, q, along, 0.1), gap(model, q, along, 0.05)
    np.testing.assert_allclose(d, 0.1 * along, atol=0.03)
    assert near < 1e-15 or near < far / 7
