"""The mechanisms with closed loops themselves: both models are the same, loops close, dense answers are Pinocchio's."""

import numpy as np
import pinocchio as pin
import pytest
from support.robot_oracles import relative
from trisweep.problems.mechanisms import MECHANISMS
from trisweep.problems.twins.pinocchio_twin import pinocchio_twin

STATES = 50


@pytest.mark.parametrize("name", MECHANISMS)
def test_both_models_are_the_same_robot(name):
    mechanism = MECHANISMS[name]()
    oracle = pinocchio_twin(mechanism)
    for q, v, tau in zip(*oracle.states(3, on_manifold=False)):
        a = pin.aba(oracle.model, oracle.data, q, v, tau)
        assert relative(mechanism.model.forward_dynamics(q, v, tau), a) < 1e-12


@pytest.mark.parametrize("name", MECHANISMS)
def test_states_close_the_loops_and_the_dense_answer_is_that_of_pinocchio(name):
    mechanism = MECHANISMS[name]()
    oracle = pinocchio_twin(mechanism)
    hinged = any(c.size == 5 for c in mechanism.constraints)
    contacts = [] if hinged else oracle.contacts()
    datas = [contact.createData() for contact in contacts]
    data = oracle.model.createData()
    pin.initConstraintDynamics(oracle.model, data, contacts, datas)
    for q, v, tau in zip(*oracle.states(STATES)):
        terms = oracle.terms(q, v)
        assert np.abs(terms.away).max() < 1e-10
        assert np.abs(terms.velocity).max() < 1e-10
        a, forces = oracle.dense(q, v, tau)
        assert np.abs(terms.J @ a - oracle.demanded(terms)).max() < 1e-8 * max(1, np.abs(a).max())
        h = pin.rnea(oracle.model, oracle.data, q, v, a)
        assert relative(h - terms.J.T @ forces, tau) < 1e-8
        if contacts:
            settings = pin.ProximalSettings(0, 1e-8, 5)
            found = pin.constraintDynamics(oracle.model, data, q, v, tau, contacts, datas, settings)
            assert relative(found, a) < 1e-10


def test_a_model_attached_to_another_keeps_its_dynamics_and_its_constraints():
    """A mechanism with a loop and a ground contact on a floating body: the ground becomes the body."""
    from dataclasses import replace

    from trisweep.dynamics import ModelBuilder, ModelError, point
    from trisweep.problems.mechanisms import four_bar

    bars = four_bar()
    to_ground = point("crank", (0.1, 0, 0), target=(0.3, 0.2, 0.1))
    model = replace(bars.model, constraints=(*bars.constraints, to_ground))
    builder = ModelBuilder("carried").add("body", joint="floating", mass=1.0, inertia=np.eye(3))
    builder.attach(model, "body", "left/", (0.1, 0.2, 0.3), (0, 0, np.pi / 2))
    builder.attach(model, prefix="fixed/", position=(0, 0, 1))
    carried = builder.build()
    assert carried.nv == 6 + 2 * model.nv
    loop, ground, _, still = carried.constraints
    assert (loop.link, loop.other) == ("left/coupler", "left/rocker")
    assert (ground.link, ground.other) == ("left/crank", "body")
    np.testing.assert_allclose(np.ravel(ground.target.p), [0.1 - 0.2, 0.2 + 0.3, 0.3 + 0.1])
    assert still.other is None
    np.testing.assert_allclose(np.ravel(still.target.p), [0.3, 0.2, 1.1])
    q, v, tau = (x[0] for x in pinocchio_twin(bars).states(1))
    at = np.concatenate([[0, 0, 0, 0, 0, 0, 1], q, q])
    R, p = carried.link_pose(at, "left/rocker")
    _, own = model.link_pose(q, "rocker")
    np.testing.assert_allclose(p, [0.1 - own[1], 0.2 + own[0], 0.3 + own[2]], atol=1e-12)
    free = carried.forward_dynamics(at, np.concatenate([np.zeros(6), v, v]), np.concatenate([np.zeros(6), tau, tau]))
    np.testing.assert_allclose(free[-3:], model.forward_dynamics(q, v, tau), rtol=1e-10)
    with pytest.raises(ModelError, match="parent 'wrist' is not there, expected one of universe, body"):
        builder.attach(model, "wrist")
    with pytest.raises(ModelError, match="link 'left/crank' is there already, expected a prefix"):
        builder.attach(model, "body", "left/")
