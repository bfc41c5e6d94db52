"""The core's recursions over bodies: against CasADi's derivatives of inverse dynamics, and against Pinocchio."""

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support.robot_oracles import demanded, ours, relative, states, twin
from trisweep.adjoint import nodes_of
from trisweep.dynamics import Constraint, ModelBuilder, point, weld
from trisweep.dynamics.forward_problem import ForwardProblem
from trisweep.dynamics.nodes.recursion import arguments, tree
from trisweep.problems.twins.pinocchio_model import mass_matrix

STATES = 50
TOLERANCE = 1e-12
NEAR_HALF_A_TURN = 1e-9  # the rotation vector to a target loses digits there


def mixed_joints():
    """Every kind of joint, on two roots."""
    build, random = ModelBuilder("mixed"), np.random.default_rng(5)
    kinds = ["floating", "spherical", "revolute", "planar", "continuous", "prismatic"]
    for i, (kind, parent) in enumerate(zip([*kinds, *kinds], [None, 0, 1, 1, 3, 4, None, 6, 6, 8, 9, 7])):
        inertia = np.diag(random.uniform(1.0, 1.5, 3))
        place = {"position": random.standard_normal(3), "rpy": random.standard_normal(3)}
        on = "universe" if parent is None else f"link{parent}"
        build.add(f"link{i}", on, kind, **place, mass=1.0, com=random.standard_normal(3), inertia=inertia)
    return build.build()


def held(model, links):
    """A weld, a weld that keeps a pose, a point, a point that keeps a place, and single rows."""
    R, p = model.link_pose(model.random_configuration(3), links[1])
    rows = np.random.default_rng(1).standard_normal((2, 6))
    kinds = [
        weld(links[0], position=(0.1, 0.2, 0.3), rpy=(0.3, 0.2, 0.1), period=0.4),
        weld(links[1], rpy=(0.1, 0.5, 0.2), target=(R, p), period=0.5, acceleration=0.3),
        point(links[2], position=(0.3, 0.1, 0.2), period=None),
        point(links[3], target=(0.1, 0.2, 0.3), period=0.2),
        Constraint(links[4], rows, k=[1.0, 2.0], classical=True),
    ]
    return kinds


CASES = {
    "iiwa14": (("iiwa_link_7", "iiwa_link_5", "iiwa_link_6", "iiwa_link_7", "iiwa_link_3")),
    "go1": ("FR_foot", "FL_foot", "RR_foot", "RL_foot", "trunk"),
    "hyq": ("lf_foot", "rf_foot", "lh_foot", "rh_foot", "trunk"),
    "panda": ("panda_hand", "panda_link5", "panda_link7", "panda_hand", "panda_link4"),
    "allegro": (),
    "mixed": ("link5", "link11", "link2", "link10", "link7"),
}


@pytest.mark.parametrize(("name", "soft"), [*((name, False) for name in CASES), ("mixed", True)])
def test_derivatives_agree_with_casadi_on_the_residual(name, soft):
    model = mixed_joints() if name == "mixed" else ours(name)
    constraints = held(model, CASES[name]) if CASES[name] else []
    nv, count = model.nv, STATES + 1  # a group that is not full
    size = nv + sum(constraint.size for constraint in constraints)
    symbols = [ca.SX.sym(n, k) for n, k in (("q", model.nq), ("v", nv), ("tau", nv), ("mu", size))]
    q, v, tau, mu = symbols
    found = model.forward_dynamics(q, v, tau, constraints, method="ltl-soft" if soft else "ltl")
    node = nodes_of(found[0] if constraints else found)[0]
    y, known = node.unknowns, node.derivatives
    matrix = ca.jacobian(node.residual, y)
    at_rest = ca.substitute(node.residual, y, ca.SX.zeros(size))
    oracle = ca.Function(
        "oracle", [*symbols, y],
        [matrix, at_rest, known.jacobian_beside_curvature, ca.tril2symm(known.curvature(mu))],
    )  # fmt: skip
    qs, vs, taus = states(model, count)
    ys, mus = np.random.default_rng(2).standard_normal((2, count, size))
    given = ca.Function("given", [q, v, tau], [arguments(ForwardProblem(model, q, v, tau, constraints))]).map(count)
    rows = np.ascontiguousarray(np.array(given(qs.T, vs.T, taus.T)).T)
    M_J, bias, slope, curvature = tree(model, constraints, soft).derivatives(rows, ys, mus)
    back = np.r_[np.arange(nv)[::-1], nv + np.arange(nv)[::-1]]  # the node has increments and velocities from the tip
    own = np.r_[back, 3 * nv + np.arange(size)]
    for n in range(count):
        K, r, d, S = (part.full() for part in oracle(qs[n], vs[n], taus[n], mus[n], ys[n]))
        assert relative(M_J[n], np.vstack([np.tril(K[:nv, :nv]), -K[nv:, :nv]])) < TOLERANCE
        assert relative(bias[n], r.ravel()) < TOLERANCE
        assert relative(slope[n], d[:, back]) < TOLERANCE
        assert relative(curvature[n], S[np.ix_(own, own)]) < NEAR_HALF_A_TURN


@pytest.mark.parametrize("name", ["talos", "g1"])
def test_second_derivatives_of_a_humanoid_agree_with_differences_of_pinocchios_first_ones(name):
    model, other = ours(name), twin(name)
    data, nv, step = other.createData(), model.nv, 1e-6
    symbols = [ca.SX.sym(n, k) for n, k in (("q", model.nq), ("v", nv), ("tau", nv))]
    given = ca.Function("given", symbols, [arguments(ForwardProblem(model, *symbols))])
    random = np.random.default_rng(4)
    q, v, a, mu = model.random_configuration(7), *random.standard_normal((3, nv))
    rows = np.array(given(q, v, np.zeros(nv))).reshape(1, -1)
    _, _, slope, curvature = tree(model, [], False).derivatives(rows, a[None], mu[None])

    def first(q, v):
        pin.computeRNEADerivatives(other, data, q, v, a)
        return np.vstack([data.dtau_dq.T @ mu, data.dtau_dv.T @ mu])

    assert relative(slope[0][:, :nv].T @ mu, first(q, v)[0]) < 1e-10
    assert relative(slope[0][:, nv:].T @ mu, first(q, v)[1]) < 1e-10
    found, largest = curvature[0], np.abs(curvature[0]).max()

    def near(ours, differences):
        return np.abs(ours - differences).max() < 1e-8 * largest

    for k in np.r_[np.arange(6), random.choice(np.arange(6, nv), 8)]:
        move = np.eye(nv)[k] * step
        dv = (first(q, v + move) - first(q, v - move)) / (2 * step)
        dq = (first(pin.integrate(other, q, move), v) - first(pin.integrate(other, q, -move), v)) / (2 * step)
        assert near(found[:nv, nv + k], dv[0]) and near(found[nv : 2 * nv, nv + k], dv[1])
        assert near(found[nv : 2 * nv, k], dq[1])
        if k >= 6:  # along the base, Pinocchio's slopes are by the moved axes, ours by one chart
            assert near(found[:nv, k], dq[0])


def test_standing_torques_hold_a_dog_still():
    dog = ours("go1")
    q = dog.neutral()
    q[7:] = np.tile([0.0, 0.8, -1.6], 4)
    feet = [point(foot) for foot in ("FR_foot", "FL_foot", "RR_foot", "RL_foot")]
    tau = dog.standing_torques(q, feet)
    a, _ = dog.forward_dynamics(q, np.zeros(dog.nv), tau, feet)
    assert np.abs(tau[:6]).max() == 0 and np.abs(a).max() < 1e-9


@pytest.mark.parametrize("flat", [False, True])
def test_an_impact_stops_the_feet_as_in_pinocchio(flat):
    dog, other = ours("go1"), twin("go1")
    data, feet = other.createData(), ("FR_foot", "RL_foot")
    (q,), (v,), _ = states(dog, 1)
    contacts = [weld(feet[0]) if flat else point(feet[0], target=(1.0, 2.0, 3.0)), point(feet[1], acceleration=5.0)]
    after, impulses = dog.impact(q, v, contacts)
    J, _ = demanded(other, data, q, v, contacts)
    K = np.block([[mass_matrix(other, data, q), -J.T], [J, np.zeros((len(J), len(J)))]])
    expected = np.linalg.solve(K, np.r_[mass_matrix(other, data, q) @ v, np.zeros(len(J))])
    assert relative(after, expected[: dog.nv]) < 1e-10
    assert relative(np.concatenate(impulses), expected[dog.nv :]) < 1e-10
    assert np.abs(J @ after).max() < 1e-12 < np.abs(J @ v).max()
