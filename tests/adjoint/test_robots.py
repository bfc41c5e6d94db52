"""Derivatives of forward dynamics, free and constrained, by Pinocchio, automatic differentiation and differences."""

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support.robot_oracles import double_pendulum, ours, twin
from trisweep.adjoint import check, expand, implicit, relocate, solved
from trisweep.dynamics import point, random_tree, weld

FEET = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
FLANGE = "iiwa_flange"
CASES = {
    "iiwa": ("iiwa14", []),
    "iiwa welded": ("iiwa14", [weld(FLANGE, period=None)]),
    "go1": ("go1", []),
    "go1 on four feet": ("go1", [point(foot, period=None) for foot in FEET]),
}


class State:
    """Symbols for a robot's state in the tangent space at a random configuration: x = (tau, d, v), q = q0 (+) d."""

    def __init__(self, model, seed=0):
        rng = np.random.default_rng(seed)
        self.model = model
        self.tau, self.d, self.v = (ca.SX.sym(name, model.nv) for name in ("tau", "d", "v"))
        self.q0 = ca.SX.sym("q0", model.nq)
        self.q = model.integrate(self.q0, self.d)
        self.x = ca.vertcat(self.tau, self.d, self.v)
        self.numbers = model.random_configuration(rng), rng.standard_normal(model.nv), 3 * rng.standard_normal(model.nv)

    @property
    def at(self):
        _, v, tau = self.numbers
        return np.concatenate([tau, np.zeros(self.model.nv), v])

    def forward_dynamics(self, constraints=(), method=None):
        """a, and the forces in one column."""
        result = self.model.forward_dynamics(self.q, self.v, self.tau, constraints, method)
        return (result[0], ca.vertcat(*result[1])) if constraints else (result, ca.SX(0, 1))

    def check(self, outputs):
        return check(self.x, outputs, self.at, self.q0, self.numbers[0])


def agrees(result, automatic=1e-9, differences=1e-6):
    assert max(result.automatic.values()) < automatic, result
    assert max(result.differences.values()) < differences, result


def relative(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


def pinocchio_derivatives(name, constraints, q, v, tau):
    """d(a, forces)/d(tau, q, v); the forces on the robot, angular part first."""
    model = twin(name)
    data = model.createData()
    if not constraints:
        pin.computeABADerivatives(model, data, q, v, tau)
        return np.hstack([data.Minv, data.ddq_dq, data.ddq_dv])
    contacts = pin.StdVec_RigidConstraintModel()
    works = pin.StdVec_RigidConstraintData()
    for constraint in constraints:
        contacts.append(contact(model, constraint))
        works.append(contacts[-1].createData())
    pin.initConstraintDynamics(model, data, contacts, works)
    pin.constraintDynamics(model, data, q, v, tau, contacts, works, pin.ProximalSettings(1e-14, 0.0, 1))
    pin.computeConstraintDynamicsDerivatives(model, data, contacts, works, pin.ProximalSettings(1e-14, 0.0, 1))
    forces = np.hstack([data.dlambda_dtau, data.dlambda_dq, data.dlambda_dv])
    if constraints[0].size == 6:
        forces = np.vstack([forces[3:], forces[:3]])
    return np.vstack([np.hstack([data.ddq_dtau, data.ddq_dq, data.ddq_dv]), forces])


def contact(model, constraint):
    kind = pin.ContactType.CONTACT_6D if constraint.size == 6 else pin.ContactType.CONTACT_3D
    frame = model.frames[model.getFrameId(constraint.link)]
    return pin.RigidConstraintModel(kind, model, frame.parentJoint, frame.placement, pin.LOCAL)


@pytest.mark.parametrize("case", [*CASES, "tree1", "tree3"])
def test_first_derivatives_agree_with_pinocchio(case):
    name, constraints = CASES.get(case, (case, []))
    state = State(ours(name))
    e = expand(state.x, ca.vertcat(*state.forward_dynamics(constraints)))
    jacobian = ca.Function("jacobian", [state.x, state.q0], [e.jacobian])
    found = jacobian(state.at, state.numbers[0]).full()
    assert relative(found, pinocchio_derivatives(name, constraints, *state.numbers)) < 1e-9


@pytest.mark.parametrize("case", [*CASES, *range(6)])
def test_all_derivatives_of_costs_in_accelerations_and_forces(case):
    """An Euler step, a cost on accelerations and forces, and a product of both with the state; robots and trees."""
    name, constraints = CASES.get(case, (None, []))
    state = State(ours(name) if name else random_tree(4, seed=case))
    a, forces = state.forward_dynamics(constraints)
    mixed = a[0] * ca.sin(state.v[1]) + ca.sum1(forces) * a[1] * state.tau[0]
    agrees(state.check(ca.vertcat(ca.sumsqr(a) + ca.sumsqr(forces), state.v + 0.05 * a, mixed)))


@pytest.mark.parametrize("method, bar", [("ltl", 1e-9), ("pv", 1e-9), ("pv-soft", 1e-9), ("ltl-soft", 1e-9)])
def test_every_method_of_constrained_dynamics_makes_a_node(method, bar):
    state = State(ours("iiwa14"))
    a, forces = state.forward_dynamics([weld(FLANGE, softness=1e-3)], method)
    agrees(state.check(ca.vertcat(a, forces)), bar)


def test_a_stabilised_constraint_with_a_moving_target():
    """Baumgarte's terms, and a demanded acceleration that is itself a variable."""
    state = State(ours("iiwa14"))
    demand = ca.SX.sym("demand", 6)
    target = np.eye(3), np.array([0.4, 0.1, 0.6])
    a, forces = state.forward_dynamics([weld(FLANGE, target=target, acceleration=demand)])
    x = ca.vertcat(state.x, demand)
    at = np.concatenate([state.at, np.linspace(-1, 1, 6)])
    agrees(check(x, ca.vertcat(ca.sumsqr(a), forces), at, state.q0, state.numbers[0]))


def test_numbers_among_the_symbols_and_external_forces_that_depend_on_the_state():
    model = ours("iiwa14")
    q, tau, wind = model.random_configuration(2), ca.SX.sym("tau", 7), ca.SX.sym("wind", 6)
    at_rest = model.forward_dynamics(q, np.zeros(7), tau, external={"iiwa_link_5": wind * tau[0]})
    x = ca.vertcat(tau, wind)
    agrees(check(x, ca.vertcat(at_rest, ca.sumsqr(at_rest)), np.linspace(-1, 2, 13)))
    angles = ca.SX.sym("q", 7)
    drag = -3 * ca.vertcat(angles[:3], wind[3:] ** 2)
    dragged = model.forward_dynamics(angles, ca.SX(7, 1), tau, external={"iiwa_flange": drag})
    x = ca.vertcat(tau, angles, wind)
    agrees(check(x, dragged, np.concatenate([np.linspace(-1, 2, 7), q, np.ones(6)])))


def runge_kutta(state, h):
    """One step of the classical method: four nodes, each on those before it."""
    model, q, v = state.model, state.q, state.v
    slopes = []
    for part in (0, h / 2, h / 2, h):
        dq, dv = (part * slope for slope in slopes[-1]) if slopes else (0, 0)
        velocity = v + dv
        slopes.append((velocity, model.forward_dynamics(q + dq, velocity, state.tau)))
    weights = (h / 6, h / 3, h / 3, h / 6)
    return ca.vertcat(*(start + sum(w * s[k] for w, s in zip(weights, slopes)) for k, start in enumerate((q, v))))


def test_runge_kutta_over_forward_dynamics():
    state = State(ours("iiwa14"))
    step = runge_kutta(state, 0.05)
    agrees(state.check(step))


def test_relocated_nodes_make_the_same_step():
    """The classical Runge-Kutta method again, from one node laid out at four places."""
    model = double_pendulum()
    q, v, tau, h = (*(ca.SX.sym(name, 2) for name in ("q", "v", "tau")), 0.05)
    x, f = ca.vertcat(q, v), ca.vertcat(v, model.forward_dynamics(q, v, tau))
    slopes = [f]
    for part in (h / 2, h / 2, h):
        slopes.append(relocate(f, x, x + part * slopes[-1]))
    step = x + h / 6 * (slopes[0] + 2 * slopes[1] + 2 * slopes[2] + slopes[3])
    agrees(check(ca.vertcat(tau, x), step, np.array([3.0, -2.0, 0.4, 1.1, -0.6, 0.9])))


def test_implicit_midpoint_by_newton():
    """a is that of the midpoint, which it moves itself: ID(q + h/2 v_m, v_m, a) = tau, v_m = v + h/2 a."""
    model, h = ours("ur5"), 0.1
    state = State(model)
    a = ca.SX.sym("a", model.nv)
    middle = state.v + h / 2 * a
    residual = model.inverse_dynamics(state.q + h / 2 * middle, middle, a) - state.tau
    step = a - ca.solve(ca.jacobian(residual, a), residual)
    newton = ca.Function("newton", [a, state.x, state.q0], [step])
    found = ca.SX.zeros(model.nv)
    for _ in range(6):
        found = newton(found, state.x, state.q0)
    implicit("midpoint", a, residual, found)
    agrees(state.check(ca.vertcat(state.q + h * middle, state.v + h * a)))


def test_implicit_midpoint_with_forward_dynamics_inside():
    """y = x + h f((x + y) / 2): forward dynamics at the middle is a node inside the step's own."""
    model, h = double_pendulum(), 0.1
    q, v, tau = (ca.SX.sym(name, model.nv) for name in ("q", "v", "tau"))
    x, y = ca.vertcat(q, v), ca.SX.sym("y", 2 * model.nv)
    f = ca.vertcat(v, model.forward_dynamics(q, v, tau))
    residual = y - x - h * relocate(f, x, (x + y) / 2)
    explicit = solved(residual)
    newton = ca.Function("newton", [y, x, tau], [y - ca.solve(ca.jacobian(explicit, y), explicit)])
    found = x
    for _ in range(6):
        found = newton(found, x, tau)
    implicit("midpoint", y, residual, found)
    agrees(check(ca.vertcat(tau, x), ca.vertcat(y, ca.sumsqr(y)), np.array([3.0, -2.0, 0.4, 1.1, -0.6, 0.9])))


def test_the_node_solves_its_residual():
    """The returned symbols stand for what the numbers of the same method are."""
    for name, constraints in CASES.values():
        model = ours(name)
        state = State(model)
        q, v, tau = state.numbers
        a, forces = state.forward_dynamics(constraints)
        found = ca.Function("f", [state.x, state.q0], [solved(ca.vertcat(a, forces))])(state.at, q).full().ravel()
        numbers = model.forward_dynamics(q, v, tau, constraints)
        expected = np.concatenate([numbers[0], *numbers[1]]) if constraints else numbers
        assert relative(found, expected) < 1e-10


def test_an_arm_on_a_vertical_axis_forgets_its_first_angle():
    """Structure survives: no column of the first joint's angle in the Jacobian of the accelerations."""
    model = ours("iiwa14")
    q, v, tau = (ca.SX.sym(name, 7) for name in ("q", "v", "tau"))
    e = expand(ca.vertcat(q, v, tau), model.forward_dynamics(q, v, tau))
    assert e.jacobian[:, 0].nnz() == 0
    assert e.jacobian[:, 1:].nnz() == 7 * 20
