"""What the core answers by recursions over the bodies: slopes of large robots, and method "riccati"."""

import numpy as np
import pinocchio as pin
import pytest
from support.robot_oracles import dense_constrained, ours, relative, states, twin
from trisweep.dynamics import ModelBuilder, ModelError, point, weld
from trisweep.dynamics.compiled import recursive_code
from trisweep.dynamics.compiled.compiled import Compiled
from trisweep.dynamics.compiled.recursive_code import RecursiveCode

FEET = [weld(f"{side}_sole_link") for side in ("left", "right")]


def test_slopes_of_a_humanoid_agree_with_pinocchios():
    """Of one state and of a batch that fills no group of lanes."""
    model, other = ours("talos"), twin("talos")
    data = other.createData()
    q, v, x = states(model, 11)
    inverse, forward = model.compiled.inverse_dynamics_slopes(q, v, x), model.compiled.forward_dynamics_slopes(q, v, x)
    assert isinstance(model.compiled._codes["inverse_dynamics_slopes"], RecursiveCode)
    for n in range(11):
        pin.computeRNEADerivatives(other, data, q[n], v[n], x[n])
        M = np.triu(data.M) + np.triu(data.M, 1).T
        one = model.compiled.inverse_dynamics_slopes(q[n], v[n], x[n])
        for mine, alone, theirs in zip(inverse, one, (data.dtau_dq, data.dtau_dv, M)):
            assert relative(mine[n], theirs) < 1e-12 and relative(alone, theirs) < 1e-12
        pin.computeABADerivatives(other, data, q[n], v[n], x[n])
        Minv = np.triu(data.Minv) + np.triu(data.Minv, 1).T
        one = model.compiled.forward_dynamics_slopes(q[n], v[n], x[n])
        for mine, alone, theirs in zip(forward, one, (data.ddq_dq, data.ddq_dv, Minv)):
            assert relative(mine[n], theirs) < 1e-9 and relative(alone, theirs) < 1e-9


@pytest.mark.parametrize(
    ("name", "constraints"),
    [("go1", [point("FR_foot"), weld("trunk", period=0.2)]), ("iiwa14", [weld("iiwa_flange")]), ("panda", [])],
)
def test_both_ways_to_slopes_agree(name, constraints, monkeypatch):
    model, state = ours(name), states(ours(name), 5)
    straight = Compiled(model)
    monkeypatch.setattr(recursive_code, "MANY_DOFS", 0)
    recursive = Compiled(model)
    for n in range(5):
        one = tuple(part[n] for part in state)
        for mine, theirs in zip(recursive.inverse_dynamics_slopes(*one), straight.inverse_dynamics_slopes(*one)):
            assert relative(mine, theirs) < 1e-12
        pair = [each.forward_dynamics_slopes(*one, constraints) for each in (recursive, straight)]
        mine, theirs = ([*found[0], *found[1]] if constraints else found for found in pair)
        assert all(relative(*parts) < 1e-9 for parts in zip(mine, theirs))


def test_slopes_go_where_they_are_told_and_are_refused_with_a_sentence():
    model = ours("talos")
    q, v, x = (row[0] for row in states(model, 1))
    into = [np.empty((model.nv, model.nv), order=order) for order in "FCF"]
    found = model.compiled.forward_dynamics_slopes(q, v, x, out=into)
    assert all(mine is given for mine, given in zip(found, into))
    assert all(np.array_equal(*pair) for pair in zip(into, model.compiled.forward_dynamics_slopes(q, v, x)))
    with pytest.raises(ModelError, match="v has shape"):
        model.compiled.forward_dynamics_slopes(q, v[1:], x)
    with pytest.raises(
        ModelError, match="state 0 gives a result that is not finite, expected a configuration at which"
    ):
        model.compiled.forward_dynamics_slopes(q, v, x, [FEET[0], FEET[0]])


@pytest.mark.parametrize("name", ["iiwa14", "go1", "talos"])
def test_riccati_in_machine_code_agrees_with_the_dense_system(name):
    links = {"iiwa14": [weld("iiwa_flange")], "go1": [point("FR_foot"), point("RL_foot", (0.1, 0, 0))], "talos": FEET}
    model, constraints = ours(name), links[name]
    q, v, tau = states(model, 19)
    a, forces = model.compiled.forward_dynamics(q, v, tau, constraints, "riccati")
    for n in range(19):
        expected, f = dense_constrained(twin(name), twin(name).createData(), q[n], v[n], tau[n], constraints)
        assert relative(a[n], expected) < 1e-9
        assert relative(np.concatenate([part[n] for part in forces]), f) < 1e-8
        one, _ = model.compiled.forward_dynamics(q[n], v[n], tau[n], constraints, "riccati")
        assert np.array_equal(one, a[n])


def test_riccati_carries_forces_on_links_and_springs():
    model = ours("go1")
    q, v, tau = (row[0] for row in states(model, 1))
    held, push = [point("FR_foot")], {"trunk": np.arange(6.0), "RL_foot": np.ones(6)}
    expected, _ = model.forward_dynamics(q, v, tau, held, "ltl", external=push)
    for found in (model, model.compiled):
        assert relative(found.forward_dynamics(q, v, tau, held, "riccati", external=push)[0], expected) < 1e-10


def test_riccati_says_what_is_wrong():
    model = ours("iiwa14")
    q, rest = model.random_configuration(1), np.zeros(7)
    wrong = [weld("iiwa_flange", acceleration=1.0), weld("iiwa_flange", acceleration=-1.0)]
    with pytest.raises(ModelError, match="their rows contradict each other at this configuration"):
        model.forward_dynamics(q, rest, rest, wrong, "riccati")
    with pytest.raises(ModelError, match="expected a configuration at which the constraints' rows can hold"):
        model.compiled.forward_dynamics(q, rest, rest, wrong, "riccati")
    build = ModelBuilder("light")
    build.add("arm", "universe", "revolute", mass=1.0, inertia=np.eye(3))
    build.add("tip", "arm", "revolute", mass=0.0)
    with pytest.raises(ModelError, match=r"'tip.*' moves no mass"):
        build.build().forward_dynamics(np.zeros(2), np.zeros(2), np.zeros(2), [point("arm", (1, 0, 0))], "riccati")
