"""The proximal iteration, its settings, its answers on the ground, and the order in which LCABA eliminates links."""

import casadi as ca
import numpy as np
import pytest
from support.loop_oracles import least_forces, stacked
from support.robot_oracles import ours, relative, states, twin
from trisweep.dynamics import ModelBuilder, ModelError, Proximal, point, weld
from trisweep.dynamics.constraints.ground import LOOP_METHODS
from trisweep.dynamics.methods import PROXIMAL
from trisweep.dynamics.proximal.default_mu import weight
from trisweep.dynamics.proximal.elimination_order import elimination_order, order
from trisweep.problems.mechanisms import MECHANISMS, favourable, four_bar, pair, worst_case
from trisweep.problems.twins.pinocchio_twin import pinocchio_twin


@pytest.mark.parametrize("method", LOOP_METHODS)
@pytest.mark.parametrize("steps", ["plain", "conjugate"])
def test_forces_of_a_solve_start_the_next_one(method, steps):
    mechanism = MECHANISMS["single loop"]()
    state = [x[0] for x in pinocchio_twin(mechanism).states(1)]
    settings = Proximal(mu=weight(mechanism.model, mechanism.constraints, 1e4), steps=steps)
    a, forces, cold = mechanism.model.proximal_dynamics(*state, mechanism.constraints, method, settings)
    again, _, warm = mechanism.model.proximal_dynamics(*state, mechanism.constraints, method, settings, forces)
    assert cold.converged and warm.converged
    assert warm.iterations <= 3 < cold.iterations
    assert relative(again, a) < 1e-8


def test_machine_code_starts_from_forces_too():
    mechanism = four_bar()
    q, v, tau = pinocchio_twin(mechanism).states(6)
    compiled = mechanism.model.compiled
    a, forces, _ = compiled.proximal_dynamics(q, v, tau, mechanism.constraints)
    again, _, report = compiled.proximal_dynamics(q, v, tau, mechanism.constraints, forces=forces)
    assert report.converged.all() and relative(again, a) < 1e-9
    one, _, report = compiled.proximal_dynamics(
        q[1], v[1], tau[1], mechanism.constraints, forces=[f[1] for f in forces]
    )
    assert report.converged is True and relative(one, a[1]) < 1e-9


def test_machine_code_takes_external_forces_and_one_row_for_all_states():
    mechanism = four_bar("weld")
    q, v, tau = pinocchio_twin(mechanism).states(9)
    external = {"coupler": np.arange(6.0), "rocker": np.ones((9, 6))}
    a, forces, report = mechanism.model.compiled.proximal_dynamics(
        q[0], v, tau[:1], mechanism.constraints, "prox-bbo", external=external
    )
    assert a.shape == (9, 4) and forces[0].shape == (9, 6) and report.iterations.shape == (9,)
    pushed = {"coupler": np.arange(6.0), "rocker": np.ones(6)}
    for n in range(9):
        expected, _ = mechanism.model.forward_dynamics(q[0], v[n], tau[0], mechanism.constraints, "lcaba", pushed)
        assert relative(a[n], expected) < 1e-9


def test_states_that_converge_late_are_handed_in_again():
    """The first state needs few iterations; one near a singular configuration comes after it."""
    bars = four_bar(crank=0.3, coupler=0.5, rocker=0.4, ground=0.4, angle=0.5)
    hard = four_bar(crank=0.3, coupler=0.5, rocker=0.4, ground=0.4, angle=0.05).q
    settings = Proximal(mu=weight(bars.model, bars.constraints, 1e4), steps="plain")
    v, tau = np.array([0.3, -0.2, 0.1]), np.zeros(3)
    *_, easy = bars.model.compiled.proximal_dynamics(bars.q, v, tau, bars.constraints, settings=settings)
    q = np.array([bars.q, hard, bars.q])
    a, _, report = bars.model.compiled.proximal_dynamics(q, v, tau, bars.constraints, settings=settings)
    assert report.converged.all() and report.iterations[0] == report.iterations[2] == easy.iterations
    assert report.iterations[1] > easy.iterations
    for n in range(3):
        assert relative(a[n], pinocchio_twin(bars).dense(q[n], v, tau)[0]) < 1e-8


def test_machine_code_arrives_where_conjugate_steps_that_begin_anew_would_not():
    """Two robots with a box, 84 rows of rank 68: 36 iterations in one go, more than 200 in calls of 12."""
    mechanism = pair()
    twin = pinocchio_twin(mechanism)
    states = twin.states(2, seed=5)
    a, _, report = mechanism.model.compiled.proximal_dynamics(*states, mechanism.constraints, "lcaba")
    assert report.converged.all() and report.met.all() and (report.iterations < 60).all()
    for found, *state in zip(a, *states):
        assert relative(found, twin.dense(*state)[0]) < 1e-8


@pytest.mark.parametrize("method", ["prox-bbo", "prox-ltl"])
def test_conjugate_steps_that_rest_on_the_way_have_not_converged(method):
    """There they change accelerations by 1e-11 in iteration 68, and are off by 2e-6; the rows hold from 85 on."""
    mechanism = pair()
    twin = pinocchio_twin(mechanism)
    state = [x[0] for x in twin.states(1, seed=5)]
    a, _, report = mechanism.model.proximal_dynamics(*state, mechanism.constraints, method)
    assert report.converged and report.met
    assert relative(a, twin.dense(*state)[0]) < 1e-7


def test_plain_iterations_shrink_what_is_missing_as_the_spectrum_says():
    """k - J a is E^n b with E = (1 + mu G)^-1, b what free motion leaves of it: Sathya 2025 eq. 13."""
    mechanism = MECHANISMS["hand and cube"]()
    oracle = pinocchio_twin(mechanism)
    q, v, tau = (x[0] for x in oracle.states(1))
    terms = oracle.terms(q, v)
    free = mechanism.model.forward_dynamics(q, v, tau)
    G = terms.J @ np.linalg.solve(mechanism.model.mass_matrix(q), terms.J.T)
    b = oracle.demanded(terms) - terms.J @ free
    mu = 1.0 / np.linalg.eigvalsh(G)[-1]
    E = np.linalg.inv(np.eye(len(G)) + mu * G)
    for count in (1, 2, 5):
        expected = np.linalg.matrix_power(E, count) @ b
        for method in LOOP_METHODS:
            settings = Proximal(mu, iterations=count, steps="plain")
            a, forces, report = mechanism.model.proximal_dynamics(q, v, tau, mechanism.constraints, method, settings)
            assert (report.iterations, report.converged) == (count, False)
            assert abs(report.residual - np.abs(expected).max()) < 1e-9 * np.abs(b).max()
            least = mechanism.model.inverse_dynamics(q, v, a, None, mechanism.constraints, forces)
            assert relative(least, tau) < 1e-9


def test_conjugate_steps_need_fewer_iterations_near_a_singular_configuration():
    bars = four_bar(crank=0.3, coupler=0.5, rocker=0.4, ground=0.4, angle=0.02)
    state = bars.q, np.array([0.3, -0.2, 0.1]), np.zeros(3)
    mu = weight(bars.model, bars.constraints, 1e3)
    for method in LOOP_METHODS:
        plain, conjugate = (
            bars.model.proximal_dynamics(*state, bars.constraints, method, Proximal(mu, 100, steps=steps))
            for steps in ("plain", "conjugate")
        )
        assert not plain[2].converged
        assert conjugate[2].converged and conjugate[2].iterations < 10
        assert relative(conjugate[0], pinocchio_twin(bars).dense(*state)[0]) < 1e-8


def test_a_limit_of_iterations_is_kept_and_told():
    mechanism = MECHANISMS["legs"]()
    q, v, tau = pinocchio_twin(mechanism).states(2)
    settings = Proximal(mu=1e-3, iterations=3)
    *_, report = mechanism.model.proximal_dynamics(q[0], v[0], tau[0], mechanism.constraints, settings=settings)
    assert report.iterations == 3 and not report.converged and report.residual > 1e-3
    *_, report = mechanism.model.compiled.proximal_dynamics(q, v, tau, mechanism.constraints, settings=settings)
    assert (report.iterations == 3).all() and not report.converged.any()


def test_the_default_mu_scales_with_the_masses():
    """A mechanism twice as heavy needs twice the mu, and as many iterations."""
    light, heavy = (arm_with_loop(mass) for mass in (1.0, 1e4))
    constraints = [weld("link5", other="link0")]
    q, v, tau = (x[0] for x in states(light, 1))
    reports = [
        model.proximal_dynamics(q, v, scale * tau, constraints)[2] for model, scale in ((light, 1.0), (heavy, 1e4))
    ]
    assert reports[1].mu == pytest.approx(1e4 * reports[0].mu, rel=1e-9)
    assert reports[0].iterations == reports[1].iterations


def arm_with_loop(mass):
    builder = ModelBuilder("arm")
    for k in range(6):
        above = "universe" if k == 0 else f"link{k - 1}"
        body = {"mass": mass, "com": (0.1, 0.02, 0), "inertia": mass * np.diag([0.01, 0.02, 0.02])}
        builder.add(f"link{k}", above, "revolute", axis=np.eye(3)[k % 3], position=(0.2, 0.1, 0), **body)
    return builder.build()


def test_symbols_may_be_demanded_and_warm_started():
    model = ours("iiwa14")
    demanded, start = ca.SX.sym("k", 3), ca.SX.sym("f", 3)
    q, v, tau = (x[0] for x in states(model, 1, seed=3))
    hold = [point("iiwa_flange", acceleration=demanded)]
    symbols = [ca.SX.sym(name, x.size) for name, x in (("q", q), ("v", v), ("tau", tau))]
    a, (force,), _ = model.proximal_dynamics(*symbols, hold, settings=Proximal(iterations=6), forces=[start])
    function = ca.Function("f", [*symbols, demanded, start], [a, force])
    wanted = np.array([0.1, 0.2, 0.3])
    expected, (least,) = model.forward_dynamics(q, v, tau, [point("iiwa_flange", acceleration=wanted)], "pv")
    for guess in (np.zeros(3), np.array([5.0, -3.0, 1.0])):
        found, push = (np.array(x).ravel() for x in function(q, v, tau, wanted, guess))
        assert relative(found, expected) < 1e-8 and relative(push, least) < 1e-6


def test_the_order_is_that_of_the_papers_example():
    """Sathya 2025 Fig. 4, counted from 0: cut joints between links 6 and 8 and between 8 and 11; first the branches
    with one neighbour, up to link 3, then that of link 8, which has two while both are open.
    """
    steps = order([-1, 0, 1, 2, 3, 4, 2, 6, 2, 8, 9], [[5, 7], [7, 10]])
    assert [step.body + 1 for step in steps] == [11, 10, 9, 6, 5, 4, 8, 7, 3, 2, 1]
    neighbours = {step.body + 1: [j + 1 for j in step.neighbours] for step in steps}
    assert neighbours[11] == neighbours[10] == neighbours[9] == [8]
    assert neighbours[6] == [8] and neighbours[8] == [3] and neighbours[7] == [3]
    assert neighbours[3] == neighbours[2] == neighbours[1] == []


def test_minimum_degree_keeps_neighbours_few_where_it_can():
    star = favourable(6)
    assert max(len(step.neighbours) for step in elimination_order(star.model, star.constraints)) <= 2
    tangle = worst_case(4)
    assert max(len(step.neighbours) for step in elimination_order(tangle.model, tangle.constraints)) >= 4


def test_every_body_comes_once_and_after_its_children():
    for name in ("legs and cube", "two hands and cube"):
        mechanism = MECHANISMS[name]()
        steps = elimination_order(mechanism.model, mechanism.constraints)
        place = {step.body: n for n, step in enumerate(steps)}
        assert sorted(place) == list(range(mechanism.model.size))
        assert all(place[i] < place[p] for i, p in enumerate(mechanism.model.parents) if p >= 0)
        assert all(place[step.body] < place[j] for step in steps for j in step.neighbours)


@pytest.mark.parametrize(
    "make, sentence",
    [
        (lambda m, s, c: Proximal(mu=0.0), "mu is 0.0, expected a number more than 0, or None"),
        (lambda m, s, c: Proximal(mu=np.inf), "mu is inf, expected a number more than 0, or None"),
        (lambda m, s, c: Proximal(iterations=0), "iterations is 0, expected at least 1, or None"),
        (lambda m, s, c: Proximal(tolerance=0), "tolerance is 0, expected more than 0"),
        (lambda m, s, c: Proximal(steps="fast"), "steps is 'fast', expected 'conjugate' or 'plain'"),
        (lambda m, s, c: m.proximal_dynamics(*s, c, "pv"), "method is 'pv', expected one of lcaba, prox-bbo, prox-ltl"),
        (lambda m, s, c: m.proximal_dynamics(*s, c, forces=[]), "forces has 0 entries, expected one for each of 1"),
        (
            lambda m, s, c: m.proximal_dynamics(*s, c, forces=[np.ones(2)]),
            r"force of the constraint on 'coupler' has sha",
        ),
        (lambda m, s, c: m.compiled.proximal_dynamics(*s, c, forces=[np.ones(2)]), r"expected \(3,\) or \(count, 3\)"),
        (lambda m, s, c: m.compiled.proximal_dynamics(*s, c, forces=[]), "forces has 0 entries"),
    ],
)
def test_mistakes_get_a_sentence(make, sentence):
    bars = four_bar()
    with pytest.raises(ModelError, match=sentence):
        make(bars.model, (bars.q, np.zeros(3), np.zeros(3)), bars.constraints)


def test_a_joint_that_moves_no_mass_is_named():
    builder = ModelBuilder("massless")
    builder.add("rod", joint="revolute", axis=(0, 1, 0), mass=1.0, com=(0, 0, -1))
    builder.add("ghost", "rod", "revolute", axis=(0, 1, 0), position=(0, 0, -1))
    builder.add("bob", joint="prismatic", mass=1.0)
    model = builder.build()
    for method in ("prox-ltl", "prox-bbo"):
        with pytest.raises(ModelError, match="'ghost_joint' moves no mass"):
            model.forward_dynamics(np.zeros(3), np.zeros(3), np.zeros(3), [point("rod", other="bob")], method)


FEET = ("FR_foot", "FL_foot", "RR_foot", "RL_foot")
SOLES = ("leg_left_6_link", "leg_right_6_link")
GROUND = {
    "iiwa tip": ("iiwa14", [weld("iiwa_flange", (0.02, -0.01, 0.05), (0.3, -0.2, 0.1), acceleration=0.5)]),
    "go1 feet": ("go1", [point(foot) for foot in FEET]),
    "talos feet": ("talos", [weld(sole) for sole in SOLES]),
    "go1 feet said twice": ("go1", [point(foot) for foot in FEET + FEET[:2]]),
    "go1 feet contradicted": ("go1", [*(point(foot) for foot in FEET), point(FEET[0], acceleration=1.0)]),
}


@pytest.mark.parametrize("case", GROUND)
@pytest.mark.parametrize("method", PROXIMAL)
def test_every_proximal_method_takes_constraints_against_the_ground(case, method):
    robot, constraints = GROUND[case]
    model, other = ours(robot), twin(robot)
    data = other.createData()
    for state in zip(*states(model, 3, seed=7)):
        a, forces, report = model.proximal_dynamics(*state, constraints, method)
        expected, least, unmet = least_forces(other, data, *state, constraints)
        assert report.converged and abs(report.residual - np.abs(unmet).max()) < 1e-8 * max(1.0, abs(a).max())
        assert relative(a, expected) < 1e-8
        assert relative(stacked(forces), least) < (1e-3 if "contradicted" in case else 1e-5)


@pytest.mark.parametrize("method", PROXIMAL)
def test_without_constraints_it_is_free_motion(method):
    model = ours("iiwa14")
    q, v, tau = (x[0] for x in states(model, 1))
    free = model.forward_dynamics(q, v, tau)
    a, forces, report = model.proximal_dynamics(q, v, tau, [], method)
    assert relative(a, free) < 1e-12 and forces == () and report.converged
    a, forces, report = model.compiled.proximal_dynamics(q, v, tau, [], method)
    assert relative(a, free) < 1e-12 and forces == () and report.converged
