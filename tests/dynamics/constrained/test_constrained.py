"""Constrained dynamics and the Delassus matrix: against dense systems made of Pinocchio's matrices, and what is said
of singular ones.
"""

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support.robot_oracles import demanded, dense_constrained, ours, relative, states, twin
from trisweep.dynamics import Constraint, ModelError, point, random_tree, weld
from trisweep.dynamics.delassus.choice import DELASSUS
from trisweep.dynamics.forward_problem import ForwardProblem
from trisweep.dynamics.methods import FORWARD, PROXIMAL
from trisweep.problems.twins.pinocchio_model import mass_matrix

STATES = 50
FEET = ("FR_foot", "FL_foot", "RR_foot", "RL_foot")
SOLES = ("leg_left_6_link", "leg_right_6_link")
HANDS = ("arm_left_7_link", "arm_right_7_link")
OFFSET = (0.02, -0.01, 0.05)
ROW = np.array([[0.1, 0.2, -0.3, 0.4, -0.5, 0.6]])

# Of R below this the soft answers themselves are only as good as rounding over R.
R = 1e-4
CASES = {
    "iiwa tip": ("iiwa14", [weld("iiwa_flange", OFFSET, (0.3, -0.2, 0.1), acceleration=0.5, softness=R)]),
    "iiwa point": ("iiwa14", [point("iiwa_flange", OFFSET, period=0.2, softness=R)]),
    "iiwa several on one link": (
        "iiwa14",
        [
            point("iiwa_link_7", OFFSET, softness=R),
            Constraint("iiwa_link_7", ROW, 0.7, softness=R),
            Constraint("iiwa_link_4", ROW[:, ::-1], softness=R),
        ],
    ),
    "go1 one foot": ("go1", [point(foot, softness=R) for foot in FEET[:1]]),
    "go1 two feet": ("go1", [point(foot, softness=R) for foot in FEET[:2]]),
    "go1 three feet": ("go1", [point(foot, softness=R) for foot in FEET[:3]]),
    "go1 four feet": ("go1", [point(foot, period=None, softness=R) for foot in FEET]),
    "talos feet": ("talos", [weld(sole, period=None, softness=R) for sole in SOLES]),
    "talos feet and hands": ("talos", [weld(link, softness=R) for link in SOLES + HANDS]),
}  # fmt: skip


def opened(case):
    """The robot's name, the constraints, our model, Pinocchio's and its data."""
    name, constraints = CASES[case]
    other = twin(name)
    return name, constraints, ours(name), other, other.createData()


def solve_on_symbols(model, q, v, tau, constraints, method):
    """The SX expressions, evaluated by CasADi itself."""
    symbols = [ca.SX.sym(name, x.shape[1]) for name, x in (("q", q), ("v", v), ("tau", tau))]
    a, forces = FORWARD[method](ForwardProblem(model, *symbols, constraints))
    function = ca.Function("f", symbols, [a, ca.vertcat(*forces)]).map(len(q))
    return [np.array(x).T for x in function(q.T, v.T, tau.T)]


@pytest.mark.parametrize("case", CASES)
def test_every_method_agrees_with_the_dense_system_on_numbers_symbols_and_machine_code(case):
    name, constraints, model, other, data = opened(case)
    q, v, tau = states(model, STATES, seed=7)
    for method in FORWARD:
        if method in PROXIMAL or (method == "pv-base" and name == "iiwa14"):
            continue
        soft = method.endswith("soft")
        expected = [dense_constrained(other, data, *state, constraints, soft) for state in zip(q, v, tau)]
        answers = [lambda n, m=method: model.forward_dynamics(q[n], v[n], tau[n], constraints, m)]
        if method != "riccati":
            symbolic = solve_on_symbols(model, q, v, tau, constraints, method)
            code = model.compiled.forward_dynamics(q, v, tau, constraints, method)
            answers.append(lambda n, s=symbolic: (s[0][n], [s[1][n]]))
            answers.append(lambda n, c=code: (c[0][n], [force[n] for force in c[1]]))
        for n, (a, force) in enumerate(expected):
            for answer in answers:
                found, forces = answer(n)
                assert relative(found, a) < 1e-8, method
                assert relative(np.concatenate(forces), force) < 1e-8, method


@pytest.mark.parametrize("case", CASES)
def test_every_delassus_method_agrees_with_the_dense_matrix(case):
    name, constraints, model, other, data = opened(case)
    q, v, _ = states(model, STATES, seed=8)
    b = np.random.default_rng(0).standard_normal((sum(c.size for c in constraints), 2))
    for method in DELASSUS:
        if method == "pv-osim-fast":
            if name == "iiwa14":
                continue
            found = [model.delassus(x, constraints, method).solve(b) for x in q]
        else:
            found = model.compiled.delassus(q, constraints, method)
            assert relative(model.delassus(q[0], constraints, method), found[0]) < 1e-9
        for n in range(STATES):
            J, _ = demanded(other, data, q[n], v[n], constraints)
            G = J @ np.linalg.solve(mass_matrix(other, data, q[n]), J.T)
            if method == "pv-osim-fast":
                assert relative(G @ found[n], b) < 1e-8
            else:
                assert relative(found[n], G) < 1e-9, method


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12])  # on tree 9 these rows are dependent
def test_trees_with_all_kinds_of_joints(seed):
    """Multi-dof joints, armature, general rows, several constraints on a path, external forces."""
    from dataclasses import replace

    rng = np.random.default_rng(seed)
    model = random_tree(9, seed, floating=seed % 2 == 0)
    model = replace(model, armature=rng.uniform(0, 0.1, model.nv) * (seed % 3 == 0))
    constraints = [
        Constraint("link8", rng.standard_normal((2, 6)), rng.standard_normal(2)),
        point("link4", OFFSET),
        Constraint("link8", rng.standard_normal((1, 6)), 0.2, classical=True),
    ]
    q, v, tau = (x[0] for x in states(model, 1, seed))
    external = {"link5": rng.standard_normal(6)}
    assert model.choose_method(constraints)[0] == "pv"
    expected, forces = dense(model, q, v, tau, constraints, external)
    for method in ("pv", "pv-early", "ltl", "riccati"):
        a, found = model.forward_dynamics(q, v, tau, constraints, method, external)
        assert relative(a, expected) < 1e-7, method
        assert relative(np.concatenate(found), forces) < 1e-7, method
    tau_again = model.inverse_dynamics(q, v, a, external, constraints, found)
    assert relative(tau_again, tau) < 1e-6
    G = [model.delassus(q, constraints, method) for method in DELASSUS if method != "pv-osim-fast"]
    assert all(relative(each, G[0]) < 1e-9 for each in G)


def dense(model, q, v, tau, constraints, external):
    """The dense system from the model's own, elsewhere tested, M, h and J."""
    M, zero = model.mass_matrix(q), np.zeros(model.nv)
    h = model.inverse_dynamics(q, v, zero, external)
    lines, wanted = [], []
    for c in constraints:
        X = c.frame.motion(np.eye(6))
        J = X @ model.link_jacobian(q, c.link)
        velocity = J @ v
        drift = X @ model.link_acceleration(q, v, zero, c.link)
        if c.classical:
            drift[3:] += np.cross(velocity[:3], velocity[3:])
        lines.append(c.K @ J)
        wanted.append(c.k.ravel() - c.K @ (2 / c.period * velocity + drift))
    J, k = np.vstack(lines), np.concatenate(wanted)
    n, m = J.shape[::-1]
    solution = np.linalg.solve(np.block([[M, -J.T], [J, np.zeros((m, m))]]), np.concatenate([tau - h, k]))
    return solution[:n], solution[n:]


def test_early_elimination_at_a_ball_that_meets_two_of_three_rows():
    """A point on a link turned by a ball: K S = -p x has rank 2, the third row must pass the joint."""
    model = random_tree(3, 5, kinds=("spherical",))
    constraints = [point("link2", (0.1, 0.2, -0.1))]
    q, v, tau = (x[0] for x in states(model, 1, 5))
    a, _ = dense(model, q, v, tau, constraints, {})
    assert relative(model.forward_dynamics(q, v, tau, constraints, "pv-early")[0], a) < 1e-10


def test_rows_and_demands_may_be_symbols():
    model = ours("iiwa14")
    K, k = ca.SX.sym("K", 2, 6), ca.SX.sym("k", 2)
    q, v, tau = (x[0] for x in states(model, 1))
    numbers = np.random.default_rng(0).standard_normal((2, 6)), np.array([0.3, -0.2])
    for method in ("pv", "pv-early", "ltl", "pv-soft", "ltl-soft"):
        a, _ = model.forward_dynamics(q, v, tau, [Constraint("iiwa_flange", K, k, softness=R)], method)
        expected, _ = model.forward_dynamics(q, v, tau, [Constraint("iiwa_flange", *numbers, softness=R)], method)
        assert relative(np.array(ca.Function("f", [K, k], [a])(*numbers)).ravel(), expected) < 1e-9


def test_machine_code_is_kept_for_constraints_that_say_the_same():
    model = ours("iiwa14")
    q, v, tau = states(model, 3)
    model.compiled.forward_dynamics(q, v, tau, [weld("iiwa_link_6")])
    kept = len(model.compiled._codes)
    model.compiled.forward_dynamics(q, v, tau, [weld("iiwa_link_6")])
    assert len(model.compiled._codes) == kept


HARD = ("pv", "pv-early", "ltl")


@pytest.mark.parametrize("method", HARD)
def test_a_singular_configuration_is_a_clear_error_of_the_methods_that_need_full_rank(method):
    model, tip = ours("iiwa14"), [weld("iiwa_flange")]
    straight, rest = np.zeros(7), np.zeros(7)
    with pytest.raises(ModelError, match="rows depend on each other at this configuration, but method"):
        model.forward_dynamics(straight, rest, np.ones(7), tip, method)
    with pytest.raises(ModelError, match=r"6 rows are more than the joints can meet|rows depend on each other"):
        model.forward_dynamics(model.random_configuration(0), rest, np.ones(7), tip + tip, method)


def test_machine_code_never_returns_a_silent_nan():
    model, tip = ours("iiwa14"), [weld("iiwa_flange")]
    q = np.array([model.random_configuration(0), np.zeros(7)])
    with pytest.raises(ModelError, match="state 1 gives a result that is not finite"):
        model.compiled.forward_dynamics(q, np.zeros((1, 7)), np.ones((1, 7)), tip, "pv-early")


def test_riccati_gives_the_right_accelerations_and_a_valid_force_at_a_singular_configuration():
    """The stretched arm at rest, and the same tip welded twice: least squares say what the accelerations must be."""
    model, other = ours("iiwa14"), twin("iiwa14")
    data, tau = other.createData(), np.linspace(-3, 4, 7)
    tip, zero = weld("iiwa_flange", period=None), np.zeros(7)
    bent = model.random_configuration(3)
    for q, v, constraints in (
        (zero, zero, [tip]),
        (zero, zero, [tip, tip]),
        (bent, 0.3 * np.ones(7), [tip, tip]),
    ):
        a, forces = model.forward_dynamics(q, v, tau, constraints, "riccati")
        M, h = mass_matrix(other, data, q), pin.rnea(other, data, q, v, zero)
        J, k = demanded(other, data, q, v, constraints)
        free = np.linalg.solve(M, tau - h)
        G = J @ np.linalg.solve(M, J.T)
        force = np.linalg.pinv(G, rcond=1e-10) @ (k - J @ free)
        expected = free + np.linalg.solve(M, J.T @ force)
        assert relative(a, expected) < 1e-8
        assert abs(J @ a - k).max() < 1e-8 * (1 + abs(J @ free).max())
        assert abs(M @ a + h - tau - J.T @ np.concatenate(forces)).max() < 1e-8 * (1 + abs(tau).max())
        assert model.choose_method([tip, tip])[0] == "prox-ltl"


def test_riccati_says_when_the_rows_cannot_hold():
    model = ours("iiwa14")
    wrong = [weld("iiwa_flange", acceleration=1.0), weld("iiwa_flange", acceleration=-1.0)]
    with pytest.raises(
        ModelError, match=r"constraints on 'iiwa_flange', 'iiwa_flange': .* expected rows that can hold"
    ):
        model.forward_dynamics(model.random_configuration(1), np.zeros(7), np.zeros(7), wrong, "riccati")


def test_soft_constraints_press_towards_the_hard_ones():
    model, hard = ours("go1"), [point(foot) for foot in FEET]
    q, v, tau = (x[0] for x in states(model, 1))
    expected, _ = model.forward_dynamics(q, v, tau, hard)
    errors = []
    for softness in (1e-2, 1e-4, 1e-6):
        soft = [Constraint(c.link, c.K, classical=True, frame=c.frame, softness=softness) for c in hard]
        errors.append(relative(model.forward_dynamics(q, v, tau, soft, "pv-soft")[0], expected))
    assert errors[0] > 20 * errors[1] > 400 * errors[2] > 0


def test_baumgarte_pulls_a_weld_back_to_its_target():
    """At rest beside the target the constrained acceleration of the tip is -e / T^2, to first order in e."""
    model = ours("iiwa14")
    q = model.random_configuration(2)
    R, p = model.link_pose(q, "iiwa_flange")
    shift, turn = np.array([1e-5, -2e-5, 1e-5]), np.array([2e-5, 1e-5, -3e-5])
    tilt = np.eye(3) + np.array([[0, -turn[2], turn[1]], [turn[2], 0, -turn[0]], [-turn[1], turn[0], 0]])
    u, _, w = np.linalg.svd(R @ tilt)
    held = weld("iiwa_flange", target=(u @ w, p + R @ shift), period=0.05)
    a, _ = model.forward_dynamics(q, np.zeros(7), np.zeros(7), [held])
    tip = model.link_jacobian(q, "iiwa_flange") @ a
    assert np.abs(tip * 0.05**2 - np.concatenate([turn, shift])).max() < 1e-8


def test_constrained_inverse_dynamics_carries_a_floating_base():
    model = ours("go1")
    feet = [point(foot, period=None) for foot in FEET]
    q, v, tau = (x[0] for x in states(model, 1, seed=4))
    a, _ = model.forward_dynamics(q, v, np.concatenate([np.zeros(6), tau[6:]]), feet)
    motor, forces = model.constrained_inverse_dynamics(q, v, a, feet)
    assert np.abs(motor[:6]).max() == 0
    again, _ = model.forward_dynamics(q, v, motor, feet)
    assert relative(again, a) < 1e-8
    assert relative(model.inverse_dynamics(q, v, a, constraints=feet, forces=forces), motor) < 1e-8
    with pytest.raises(ModelError, match="cannot carry the floating base, expected six independent rows"):
        model.constrained_inverse_dynamics(q, v, a, feet[:1])


def moved(model, *arguments, **options):
    rest = np.zeros(model.nv)
    return model.forward_dynamics(model.neutral(), rest, rest, *arguments, **options)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda m: moved(m, [weld("hand")]), "has no link 'hand', expected one of"),
        (lambda m: moved(m, [weld("iiwa_link_0")]), "fixed to the world"),
        (lambda m: moved(m, weld("iiwa_flange")), "expected a list of constraints"),
        (lambda m: moved(m, ["iiwa_flange"]), "constraints holds 'iiwa_flange', expected weld, point or Constraint"),
        (lambda m: moved(m, method="ldl"), "method is 'ldl', expected one of"),
        (lambda m: moved(m, [Constraint("iiwa_link_7", np.eye(6), other="x")]), "has no link 'x', expected one of"),
        (lambda m: m.delassus(m.neutral(), [weld("iiwa_flange")], "pv-osim-fast"), "expected a floating base"),
        (lambda m: moved(m, [weld("iiwa_flange")], "pv-base"), "expected a floating base"),
        (lambda m: m.delassus(m.neutral(), []), "delassus got no constraints, expected at least one"),
        (lambda m: m.forward_dynamics(*symbols(m), [weld("iiwa_flange")], "riccati"), "got symbols, expected numbers"),
        (lambda m: Constraint("a", np.eye(7)), r"K has shape \(7, 7\), expected 1 to 6 rows of 6"),
        (lambda m: Constraint("a", np.full((1, 6), np.nan)), "K: entry 0 is not finite"),
        (lambda m: Constraint("a", np.eye(6), k=np.zeros(3)), r"k has shape \(3, 1\), expected \(6,\)"),
        (lambda m: Constraint("a", np.eye(6), softness=0.0), "softness is 0.0, expected more than 0"),
        (lambda m: weld("a", period=-1.0), "period is -1.0 s, expected more than 0, or None"),
        (lambda m: weld("a", target=(np.ones((3, 3)), np.zeros(3))), "target is not a rotation"),
    ],
)
def test_mistakes_get_a_sentence(make, sentence):
    with pytest.raises(ModelError, match=sentence):
        make(ours("iiwa14"))


def symbols(model):
    return ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv), ca.SX.sym("tau", model.nv)
