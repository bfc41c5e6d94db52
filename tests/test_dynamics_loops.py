"""Mechanisms with loops: the proximal methods against Pinocchio's constrained dynamics and dense least-norm solutions."""

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from loop_oracles import pinocchio_constraint
from robot_oracles import ours, relative, states, twin
from trisweep.dynamics import Constraint, Proximal, point, weld
from trisweep.dynamics.builder import rotation
from trisweep.dynamics.demand import LOOP_METHODS
from trisweep.dynamics.forward import PROXIMAL

LOOPS = [method for method in LOOP_METHODS if method in PROXIMAL]
HINGE = np.eye(6)[[0, 1, 3, 4, 5]]


def pose(rng):
    return rotation(rng.uniform(-1, 1, 3)), rng.uniform(-0.3, 0.3, 3)


def random_loop(kind, one, two, rng, **options):
    """A loop closed anywhere on two links of a random tree."""
    position, rpy = rng.uniform(-0.3, 0.3, 3), rng.uniform(-1, 1, 3)
    if kind == "point":
        return point(one, position, target=rng.uniform(-0.3, 0.3, 3), other=two, **options)
    if kind == "hinge":
        frame, target = weld(one, position, rpy).frame, weld(one, target=pose(rng)).target
        return Constraint(one, HINGE, frame=frame, target=target, other=two, **options)
    return weld(one, position, rpy, target=pose(rng), other=two, **options)


def answers(model, q, v, tau, constraints, method, settings=None):
    """Accelerations and stacked forces on numbers, symbols and machine code, a row a state."""
    numbers = [model.proximal_dynamics(*state, constraints, method, settings) for state in zip(q, v, tau)]
    assert all(report.converged for *_, report in numbers)
    yield np.array([a for a, *_ in numbers]), np.array([np.concatenate(forces) for _, forces, _ in numbers])
    symbols = [ca.SX.sym(name, x.shape[1]) for name, x in (("q", q), ("v", v), ("tau", tau))]
    fixed = Proximal(mu=None if settings is None else settings.mu, iterations=12)
    a, forces, report = model.proximal_dynamics(*symbols, constraints, method, fixed)
    assert report is None
    function = ca.Function("f", symbols, [a, ca.vertcat(*forces)]).map(len(q))
    yield tuple(np.array(x).T for x in function(q.T, v.T, tau.T))
    a, forces, report = model.compiled.proximal_dynamics(q, v, tau, constraints, method, settings)
    assert report.converged.all()
    yield a, np.concatenate(forces, axis=1)


@pytest.mark.parametrize("seed", [1, 2, 5, 8])
@pytest.mark.parametrize("method", LOOPS)
def test_loops_on_random_trees_are_pinocchios(method, seed):
    """All kinds of joints; a weld and a point between links, and a point on the ground."""
    rng = np.random.default_rng(seed)
    model, other = ours(f"tree{seed}"), twin(f"tree{seed}")
    constraints = [
        random_loop("weld", "link6", "link3", rng, period=None),
        random_loop("point", "link5", "link0", rng, period=None),
        point("link4", rng.uniform(-0.3, 0.3, 3), target=rng.uniform(-0.3, 0.3, 3), period=None),
    ]
    contacts = [pinocchio_constraint(other, constraint) for constraint in constraints]
    data, datas = other.createData(), [contact.createData() for contact in contacts]
    pin.initConstraintDynamics(other, data, contacts, datas)
    settings = pin.ProximalSettings(1e-14, 1e-8, 30)
    q, v, tau = states(model, 10, seed)
    expected = [
        pin.constraintDynamics(other, data, *state, contacts, datas, settings).copy() for state in zip(q, v, tau)
    ]
    for a, _ in answers(model, q, v, tau, constraints, method):
        for n in range(len(q)):
            assert relative(a[n], expected[n]) < 1e-8
