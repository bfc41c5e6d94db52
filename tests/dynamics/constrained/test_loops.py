"""Mechanisms with loops: the proximal methods against dense least-norm solutions and Pinocchio's own algorithms."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support.loop_oracles import pinocchio_constraint, pose, stacked
from support.robot_oracles import ours, relative, states, twin
from trisweep.dynamics import Constraint, ModelBuilder, ModelError, Proximal, load_mjcf, point, weld
from trisweep.dynamics.constraints.ground import LOOP_METHODS, SOFT_LOOPS
from trisweep.dynamics.delassus.choice import DELASSUS, WITH_LOOPS
from trisweep.dynamics.methods import FORWARD
from trisweep.problems.mechanisms import MECHANISMS, four_bar
from trisweep.problems.twins.pinocchio_twin import pinocchio_twin

STATES = 50
SMALL = ("four-bar welded", "hand and cube", "legs", "chain of loops")
TREE_METHODS = [method for method in FORWARD if method not in (*LOOP_METHODS, SOFT_LOOPS)]


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("method", LOOP_METHODS)
def test_mechanisms_move_as_the_dense_system_says(name, method):
    mechanism = MECHANISMS[name]()
    oracle = pinocchio_twin(mechanism)
    for state in zip(*oracle.states(5 if mechanism.model.nv < 50 else 2, seed=1)):
        a, forces, report = mechanism.model.proximal_dynamics(*state, mechanism.constraints, method)
        expected, least = oracle.dense(*state)
        assert report.converged and report.residual < 1e-8 * max(1.0, abs(a).max())
        assert relative(a, expected) < 1e-8
        assert relative(stacked(forces), least) < 1e-6


def on_symbols(mechanism, method, iterations, q, v, tau):
    """Accelerations by exactly so many iterations of the expression, a row a state, evaluated by CasADi."""
    symbols = [ca.SX.sym(name, x.shape[1]) for name, x in (("q", q), ("v", v), ("tau", tau))]
    settings = Proximal(iterations=iterations)
    a, _, report = mechanism.model.proximal_dynamics(*symbols, mechanism.constraints, method, settings)
    assert report is None
    return np.array(ca.Function("f", symbols, [a]).map(len(q))(q.T, v.T, tau.T)).T


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("method", LOOP_METHODS)
def test_open_loops_with_baumgarte_on_symbols(name, method):
    """Off the manifold, where every term of the drift counts."""
    mechanism = MECHANISMS[name]().stabilised(0.05)
    oracle = pinocchio_twin(mechanism)
    q, v, tau = oracle.states(20, on_manifold=False)
    found = on_symbols(mechanism, method, 10, q, v, tau)
    for n in range(20):
        assert relative(found[n], oracle.dense(q[n], v[n], tau[n])[0]) < 1e-8


@pytest.mark.parametrize("name", MECHANISMS)
def test_fifty_states_of_each_mechanism_by_lcaba_on_symbols(name):
    mechanism = MECHANISMS[name]()
    oracle = pinocchio_twin(mechanism)
    q, v, tau = oracle.states(STATES, seed=1)
    found = on_symbols(mechanism, "lcaba", 10, q, v, tau)
    for n in range(STATES):
        assert relative(found[n], oracle.dense(q[n], v[n], tau[n])[0]) < 1e-8


@pytest.mark.parametrize("name", SMALL[:3])
def test_machine_code_iterates_until_it_has_converged(name):
    mechanism = MECHANISMS[name]()
    oracle = pinocchio_twin(mechanism)
    q, v, tau = oracle.states(STATES)
    compiled = mechanism.model.compiled
    a, forces, report = compiled.proximal_dynamics(q, v, tau, mechanism.constraints)
    assert report.converged.all() and (report.residual < 1e-8 * np.maximum(1.0, abs(a).max(axis=1))).all()
    for n in range(STATES):
        expected, least = oracle.dense(q[n], v[n], tau[n])
        assert relative(a[n], expected) < 1e-8
        assert relative(stacked(forces)[n], least) < 1e-6
    one, pushes = compiled.forward_dynamics(q[7], v[7], tau[7], mechanism.constraints)
    assert one.shape == (mechanism.model.nv,) and relative(one, a[7]) < 1e-12
    assert [push.shape for push in pushes] == [(c.size,) for c in mechanism.constraints]


@pytest.mark.parametrize("seed", [1, 2, 5, 8])
@pytest.mark.parametrize("method", LOOP_METHODS)
def test_loops_on_random_trees_are_pinocchios(method, seed):
    """All kinds of joints; a weld and a point between links, and a point on the ground."""
    rng = np.random.default_rng(seed)
    model, other = ours(f"tree{seed}"), twin(f"tree{seed}")
    constraints = [
        weld("link6", rng.uniform(-0.3, 0.3, 3), rng.uniform(-1, 1, 3), target=pose(rng), other="link3", period=None),
        point("link5", rng.uniform(-0.3, 0.3, 3), target=rng.uniform(-0.3, 0.3, 3), other="link0", period=None),
        point("link4", rng.uniform(-0.3, 0.3, 3), target=rng.uniform(-0.3, 0.3, 3), period=None),
    ]
    contacts = [pinocchio_constraint(other, constraint) for constraint in constraints]
    data, datas = other.createData(), [contact.createData() for contact in contacts]
    pin.initConstraintDynamics(other, data, contacts, datas)
    settings = pin.ProximalSettings(1e-14, 1e-8, 30)
    for state in zip(*states(model, 5, seed)):
        expected = pin.constraintDynamics(other, data, *state, contacts, datas, settings)
        assert relative(model.forward_dynamics(*state, constraints, method)[0], expected) < 1e-8


@pytest.mark.parametrize("make", [weld, point])
def test_damping_is_pinocchios(make):
    model, other = ours("tree2"), twin("tree2")
    constraint = make("link6", (0.1, -0.2, 0.3), target=None, period=0.2)
    contact = pinocchio_constraint(other, constraint)
    data, work = other.createData(), contact.createData()
    pin.initConstraintDynamics(other, data, [contact], [work])
    for state in zip(*states(model, 5, 2)):
        damped = pin.constraintDynamics(other, data, *state, [contact], [work], pin.ProximalSettings(1e-14, 1e-8, 30))
        assert relative(model.forward_dynamics(*state, [constraint], "pv")[0], damped) < 1e-8


@pytest.mark.parametrize("name", ["hand and cube", "chain of loops", "worst case"])
def test_lcaba_is_pinocchios(name):
    mechanism = MECHANISMS[name]()
    oracle = pinocchio_twin(mechanism)
    contacts = oracle.contacts()
    data, datas = oracle.model.createData(), [contact.createData() for contact in contacts]
    pin.computeJointMinimalOrdering(oracle.model, data, contacts)
    joints = {joint for c in mechanism.constraints for joint, _ in oracle.ends(c)}
    for state in zip(*oracle.states(10, seed=2)):
        for joint in joints:
            data.oa[joint] = pin.Motion.Zero()
        found = pin.lcaba(oracle.model, data, *state, contacts, datas, pin.ProximalSettings(1e-14, 1e-4, 60))
        a, _ = mechanism.model.forward_dynamics(*state, mechanism.constraints, "lcaba")
        assert relative(a, found) < 1e-8


@pytest.mark.parametrize("name", ["four-bar", "hand and cube", "legs"])
@pytest.mark.parametrize("method", LOOP_METHODS)
def test_rows_said_twice_and_rows_that_contradict_each_other(name, method):
    """The dense answer then is the closest there is: the least force to the least sum of squares of what is missing."""
    mechanism = MECHANISMS[name]()
    oracle = pinocchio_twin(mechanism)
    first = mechanism.constraints[0]
    twice = mechanism.with_constraints([*mechanism.constraints, first])
    against = mechanism.with_constraints([*mechanism.constraints, replaced(first, k=np.ones(first.size))])
    opposed = pinocchio_twin(against)
    for state in zip(*oracle.states(4, seed=3)):
        a, _, report = mechanism.model.proximal_dynamics(*state, twice.constraints, method)
        assert report.converged and relative(a, oracle.dense(*state)[0]) < 1e-8
        a, _, report = mechanism.model.proximal_dynamics(*state, against.constraints, method)
        expected, _ = opposed.dense(*state)
        terms = opposed.terms(*state[:2])
        unmet = np.abs(opposed.demanded(terms) - terms.J @ expected).max()
        assert report.converged and unmet > 0.4
        assert abs(report.residual - unmet) < 1e-6 * unmet
        assert relative(a, expected) < 1e-8


def replaced(constraint, **changes):
    return replace(constraint, softness=constraint.softness.ravel(), **changes)


@pytest.mark.parametrize("method", LOOP_METHODS)
def test_singular_configurations_give_numbers_and_say_what_is_missing(method):
    """A four-bar stretched out, all bars in line, and next to it; no rate of convergence is expected there."""
    bars = four_bar(crank=0.3, coupler=0.5, rocker=0.4, ground=0.4, angle=1e-9)
    oracle = pinocchio_twin(bars)
    rng = np.random.default_rng(0)
    for nudge in (0.0, 1e-9, 1e-7, 1e-5, 1e-3):
        q = bars.q + nudge * rng.standard_normal(3)
        state = q, rng.standard_normal(3), rng.standard_normal(3)
        a, forces, report = bars.model.proximal_dynamics(*state, bars.constraints, method)
        assert np.isfinite(a).all() and np.isfinite(stacked(forces)).all()
        terms = oracle.terms(*state[:2])
        assert abs(report.residual - np.abs(oracle.demanded(terms) - terms.J @ a).max()) < 1e-8 * max(1, abs(a).max())
    a, forces, report = bars.model.compiled.proximal_dynamics(*state, bars.constraints, method)
    assert np.isfinite(a).all() and np.isfinite(stacked(forces)).all()


@pytest.mark.parametrize("method", LOOP_METHODS)
def test_inverse_dynamics_undoes_forward_dynamics_through_loops(method):
    mechanism = MECHANISMS["legs and cube"]()
    model = mechanism.model
    external = {"pelvis": np.arange(6.0), "cube": -np.ones(6)}
    for q, v, tau in zip(*pinocchio_twin(mechanism).states(3, seed=4)):
        a, forces = model.forward_dynamics(q, v, tau, mechanism.constraints, method, external)
        again = model.inverse_dynamics(q, v, a, external, mechanism.constraints, forces)
        assert np.abs(again - tau).max() < 1e-7 * max(1.0, *(np.abs(force).max() for force in forces))


def test_a_link_fixed_to_the_world_is_the_ground():
    builder = ModelBuilder("arm on a table").add("table", position=(0.1, 0.2, 0.3), rpy=(0.1, 0.2, 0.3))
    for k in range(7):
        above = "universe" if k == 0 else f"link{k - 1}"
        builder.add(f"link{k}", above, "revolute", axis=np.eye(3)[k % 3], position=(0.2, 0.1, 0), mass=1.0,
                    com=(0.1, 0, 0), inertia=0.01 * np.eye(3))  # fmt: skip
    model = builder.build()
    rng = np.random.default_rng(0)
    R, p = pose(rng)
    table_R, table_p = model.link_pose(model.neutral(), "table")
    here = weld("link6", target=(table_R @ R, table_p + table_R @ p))
    there = weld("link6", target=(R, p), other="table")
    q, v, tau = rng.uniform(-1, 1, (3, 7))
    assert model.choose_method([there])[0] == "pv"
    for method in ("pv-early", "lcaba", "ltl"):
        a, _ = model.forward_dynamics(q, v, tau, [here], method)
        assert relative(model.forward_dynamics(q, v, tau, [there], method)[0], a) < 1e-9


LOOPED = """
<mujoco><worldbody>
  <body name="crank" pos="0 0 1"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/>
    <body name="coupler" pos=".3 0 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .6 0 0" size=".02"/>
    </body></body>
  <body name="rocker" pos=".9 0 1.4"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -.4" size=".02"/>
  </body>
  <body name="load" pos=".5 0 1.1"><freejoint/><geom type="box" size=".05 .05 .05"/></body>
</worldbody><equality>
  <connect body1="coupler" body2="rocker" anchor=".6 0 0"/><weld body1="load" body2="coupler"/>
</equality></mujoco>
"""


def test_loops_of_mjcf_hold_at_the_files_pose_and_move_as_mujoco_says(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "four_bar.xml"
    path.write_text(LOOPED)
    model = load_mjcf(path)
    assert [(c.link, c.other, c.size) for c in model.constraints] == [("coupler", "rocker", 3), ("load", "coupler", 6)]
    source = mujoco.MjModel.from_xml_path(str(path))
    source.opt.tolerance, source.opt.iterations = 1e-14, 500
    data, soft = mujoco.MjData(source), []
    # Without its own stabilisation. Its constraints are soft, 1e-4 at the hardest: extrapolated to none.
    for softness in (3e-4, 2e-4, 1e-4):
        hard = 1 - softness
        source.eq_solref[:], source.eq_solimp[:] = (-1e-9, -1e-9), (hard, hard, 1e-3, 0.5, 2)
        mujoco.mj_forward(source, data)
        soft.append(data.qacc.copy())
    q = np.concatenate([data.qpos[:3], data.qpos[3:6], data.qpos[7:10], data.qpos[6:7]])
    rest = [replaced(constraint, period=None) for constraint in model.constraints]
    zero = np.zeros(model.nv)
    a, _ = model.forward_dynamics(q, zero, zero, rest)
    held = model.forward_dynamics(q, zero, zero, model.constraints)[0]
    assert relative(held, a) < 1e-9  # the pose of the file closes the loops: nothing to correct
    assert relative(a, 3 * soft[2] - 3 * soft[1] + soft[0]) < 1e-5


@pytest.mark.parametrize("method", TREE_METHODS)
def test_methods_for_trees_say_that_they_do_not_take_loops(method):
    bars = four_bar()
    state = bars.q, np.zeros(3), np.zeros(3)
    sentence = "'coupler' and 'rocker' closes a loop.*lcaba, prox-bbo, prox-ltl"
    with pytest.raises(ModelError, match=sentence if method != "pv-base" else "expected a floating base"):
        bars.model.forward_dynamics(*state, bars.constraints, method)


@pytest.mark.parametrize("method", [method for method in DELASSUS if method != WITH_LOOPS])
def test_methods_of_delassus_matrices_for_trees_say_so_too(method):
    bars = four_bar()
    with pytest.raises(ModelError, match=f"delassus by '{method}': a constraint closes a loop, expected method 'ltl'"):
        bars.model.delassus(bars.q, bars.constraints, method)


def mass_matrix(oracle, q):
    upper = np.triu(pin.crba(oracle.model, oracle.data, q))
    return upper + np.triu(upper, 1).T


@pytest.mark.parametrize("name", ["four-bar welded", "hand and cube", "Stewart platform"])
def test_delassus_matrices_and_softness_of_loops_are_those_of_the_dense_system(name):
    """Also as machine code and as a node; every row with a softness of its own."""
    mechanism = MECHANISMS[name]()
    model, oracle = mechanism.model, pinocchio_twin(mechanism)
    rng = np.random.default_rng(0)
    soft = [replace(row, softness=10 ** rng.uniform(-5, -2, (row.size, 1))) for row in mechanism.constraints]
    R = np.diag(np.concatenate([row.softness.ravel() for row in soft]))
    for q, v, tau in zip(*oracle.states(3, seed=2)):
        terms = oracle.terms(q, v)
        G = terms.J @ np.linalg.solve(mass_matrix(oracle, q), terms.J.T)
        assert relative(model.delassus(q, soft), G) < 1e-9
        assert relative(model.compiled.delassus(q, soft), G) < 1e-9
        a, forces = model.forward_dynamics(q, v, tau, soft, "ltl-soft")
        M, h = mass_matrix(oracle, q), pin.rnea(oracle.model, oracle.data, q, v, np.zeros(model.nv))
        free = np.linalg.solve(M, tau - h)
        expected = np.linalg.solve(G + R, oracle.demanded(terms) - terms.J @ free)
        assert relative(stacked(forces), expected) < 1e-7
        assert relative(a, free + np.linalg.solve(M, terms.J.T @ expected)) < 1e-7
        assert relative(model.compiled.forward_dynamics(q, v, tau, soft, "ltl-soft")[0], a) < 1e-8


def test_forces_through_loops_carry_a_motion():
    """Constrained inverse dynamics: the cube has no motor, and is carried by the least forces of the fingertips."""
    mechanism = MECHANISMS["hand and cube"]()
    oracle = pinocchio_twin(mechanism)
    model = mechanism.model
    q, v, a = (x[0] for x in oracle.states(1))
    tau, forces = model.constrained_inverse_dynamics(q, v, a, mechanism.constraints)
    floating = list(range(model.nv - 6, model.nv))
    assert np.abs(tau[floating]).max() == 0.0
    J = oracle.terms(q, v).J
    needed = pin.rnea(oracle.model, oracle.data, q, v, a)
    assert relative(tau + J.T @ stacked(forces), needed) < 1e-9
    least = np.linalg.pinv(J[:, floating].T) @ needed[floating]
    assert relative(stacked(forces), least) < 1e-8


@pytest.mark.parametrize(
    "make, sentence",
    [
        (lambda: weld("crank", other="crank"), "'crank' and 'crank': both are parts of one body, expected two links"),
        (lambda: weld("universe", other="crank"), "'universe' and 'crank': the first is fixed to the world"),
        (lambda: weld("crank", other="wheel"), "has no link 'wheel', expected one of"),
        (lambda: Constraint("crank", np.eye(6), more=[("rocker", np.eye(3))]), r"K of 'rocker' has shape \(3, 3\)"),
        (lambda: Constraint("crank", np.eye(6), more=["rocker"]), r"more holds 'rocker', expected \(link, K\)"),
        (lambda: Constraint("crank", np.eye(6), more=[("wheel", np.eye(6))]), "has no link 'wheel', expected one of"),
        (
            lambda: Constraint("crank", np.eye(6), more=[("universe", np.eye(6))]),
            "'universe': the link is fixed to the",
        ),
    ],
)
def test_mistakes_get_a_sentence(make, sentence):
    bars = four_bar()
    with pytest.raises(ModelError, match=sentence):
        bars.model.forward_dynamics(bars.q, np.zeros(3), np.zeros(3), [make()])
