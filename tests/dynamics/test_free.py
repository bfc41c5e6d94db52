"""Kinematics and unconstrained dynamics: against Pinocchio and MuJoCo, and against physics."""

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support.robot_oracles import (
    ROBOTS,
    TREES,
    angular_first,
    double_pendulum,
    mass_matrix,
    ours,
    relative,
    states,
    twin,
)
from trisweep.dynamics import ModelBuilder, random_tree
from trisweep.dynamics.free.aba import aba

STATES = 50
TOLERANCE = 1e-10


@pytest.mark.parametrize("name", ROBOTS + TREES)
def test_dynamics_agree_with_pinocchio_on_numbers_symbols_and_machine_code(name):
    model, other = ours(name), twin(name)
    data = other.createData()
    assert list(other.names)[1:] == list(model.joint_names)
    q, v, tau = states(model, STATES)
    a = tau[:, ::-1].copy()
    symbols = [ca.SX.sym(n, size) for n, size in (("q", model.nq), ("v", model.nv), ("tau", model.nv))]
    on_symbols = ca.Function("aba", symbols, [aba(model, *symbols)]).map(STATES)
    accelerations = np.array(on_symbols(q.T, v.T, tau.T)).T
    compiled = [
        model.compiled.inverse_dynamics(q, v, a),
        model.compiled.mass_matrix(q),
        model.compiled.forward_dynamics(q, v, tau),
    ]
    for n in range(STATES):
        expected = (
            pin.rnea(other, data, q[n], v[n], a[n]).copy(),
            mass_matrix(other, data, q[n]),
            pin.aba(other, data, q[n], v[n], tau[n]).copy(),
        )
        numbers = (
            model.inverse_dynamics(q[n], v[n], a[n]),
            model.mass_matrix(q[n]),
            model.forward_dynamics(q[n], v[n], tau[n]),
        )
        for number, code, reference in zip(numbers, compiled, expected):
            assert relative(number, reference) < TOLERANCE
            assert relative(code[n], reference) < TOLERANCE
        assert relative(accelerations[n], expected[2]) < TOLERANCE


@pytest.mark.parametrize("name", ROBOTS + TREES)
def test_kinematics_agree_with_pinocchio(name):
    model, other = ours(name), twin(name)
    data = other.createData()
    q, v, a = states(model, STATES, seed=1)
    links = [link for link in model.frames if link != "universe" and other.existFrame(link)]
    assert len(links) >= model.size
    chosen = [links[i] for i in np.unique(np.linspace(0, len(links) - 1, 4).astype(int))]
    size = {"q": model.nq, "v": model.nv, "a": model.nv}
    symbols = [ca.SX.sym(n, k) for n, k in size.items()]
    for link in chosen:
        R, p = model.compiled.link_pose(q, link)
        J = model.compiled.link_jacobian(q, link)
        motion = [model.link_velocity(*symbols[:2], link), model.link_acceleration(*symbols, link)]
        velocity, acceleration = (np.array(x).T for x in ca.Function("f", symbols, motion).map(STATES)(q.T, v.T, a.T))
        frame = other.getFrameId(link)
        for n in range(STATES):
            pin.forwardKinematics(other, data, q[n], v[n], a[n])
            pin.updateFramePlacements(other, data)
            pose = data.oMf[frame]
            assert max(relative(R[n], pose.rotation), abs(p[n] - pose.translation).max()) < TOLERANCE
            local = pin.computeFrameJacobian(other, data, q[n], frame, pin.LOCAL)
            assert abs(J[n] - angular_first(local)).max() < TOLERANCE
            expected = pin.getFrameVelocity(other, data, frame, pin.LOCAL).vector
            assert abs(velocity[n] - angular_first(expected)).max() < TOLERANCE * (1 + abs(expected).max())
            expected = pin.getFrameAcceleration(other, data, frame, pin.LOCAL).vector
            assert abs(acceleration[n] - angular_first(expected)).max() < TOLERANCE * (1 + abs(expected).max())
        numbers = (*model.link_pose(q[0], link), model.link_jacobian(q[0], link))
        assert all(relative(x, y[0]) < TOLERANCE for x, y in zip(numbers, (R, p, J)) if abs(y[0]).max() > 0)
        assert relative(model.link_velocity(q[0], v[0], link), velocity[0]) < TOLERANCE
        assert relative(model.link_acceleration(q[0], v[0], a[0], link), acceleration[0]) < TOLERANCE


@pytest.mark.parametrize("name", ROBOTS + TREES)
def test_centre_of_mass_energies_and_the_manifold_agree_with_pinocchio(name):
    model, other = ours(name), twin(name)
    data = other.createData()
    q, v, _ = states(model, 5, seed=2)
    for n in range(len(q)):
        assert relative(model.centre_of_mass(q[n]), pin.centerOfMass(other, data, q[n])) < TOLERANCE
        assert relative(model.kinetic_energy(q[n], v[n]), pin.computeKineticEnergy(other, data, q[n], v[n])) < TOLERANCE
        potential = pin.computePotentialEnergy(other, data, q[n])
        assert abs(model.potential_energy(q[n])[0] - potential) < TOLERANCE * (1 + abs(potential))
        # up to the sign of quaternions, which Pinocchio keeps on one half of the sphere
        away = model.difference(model.integrate(q[n], v[n]), pin.integrate(other, q[n], v[n]))
        assert abs(away).max() < 1e-9
        assert abs(model.integrate(q[n], 1e-3 * v[n]) - pin.integrate(other, q[n], 1e-3 * v[n])).max() < 1e-12
        back = pin.difference(other, q[n], q[n - 1])
        assert abs(model.difference(q[n], q[n - 1]) - back).max() < 1e-9 * (1 + abs(back).max())
        assert abs(model.difference(q[n], model.integrate(q[n], 0.3 * v[n])) - 0.3 * v[n]).max() < 1e-9
    assert relative(model.neutral(), pin.neutral(other)) < TOLERANCE


@pytest.mark.parametrize("name", ["iiwa14", "go1", "allegro", *TREES[:6]])
def test_the_inverse_of_the_mass_matrix(name):
    model = ours(name)
    q, _, _ = states(model, 10, seed=3)
    inverses = model.compiled.inverse_mass_matrix(q)
    for n in range(len(q)):
        M = model.mass_matrix(q[n])
        assert relative(inverses[n] @ M, np.eye(model.nv)) < 1e-9
        assert relative(model.inverse_mass_matrix(q[n]), inverses[n]) < 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_energy_changes_by_the_power_of_the_joint_forces(seed):
    model = random_tree(8, seed)
    q, v, tau = (x[0] for x in states(model, 1, seed))
    a = model.forward_dynamics(q, v, tau)
    h = 1e-5

    def energy(t):
        moved = model.integrate(q, t * v + 0.5 * t * t * a)
        return (model.kinetic_energy(moved, v + t * a) + model.potential_energy(moved))[0]

    rate = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h)
    assert abs(rate - tau @ v) < 1e-6 * (1 + abs(energy(0.0)) + np.abs(tau * v).sum())


@pytest.mark.parametrize("seed", range(8))
def test_the_mass_matrix_changes_by_twice_the_coriolis_matrix_up_to_a_skew_part(seed):
    """v' (Mdot - 2 C) v = 0 with C v the velocity terms of inverse dynamics, on joints whose axes are Euclidean
    coordinates.
    """
    model = random_tree(8, seed, kinds=("revolute", "prismatic"))
    q, v, _ = (x[0] for x in states(model, 1, seed))
    h = 1e-5
    Mdot = (
        8 * (model.mass_matrix(q + h * v) - model.mass_matrix(q - h * v))
        - (model.mass_matrix(q + 2 * h * v) - model.mass_matrix(q - 2 * h * v))
    ) / (12 * h)
    zero = np.zeros(model.nv)
    Cv = model.inverse_dynamics(q, v, zero) - model.inverse_dynamics(q, zero, zero)
    assert abs(v @ Mdot @ v - 2 * v @ Cv) < 1e-7 * (abs(v @ Mdot @ v) + 1)
    C = coriolis(model, q, v)
    skew = Mdot - 2 * C
    assert np.abs(C @ v - Cv).max() < 1e-6 * (1 + np.abs(Cv).max())
    assert np.abs(skew + skew.T).max() < 1e-6 * (1 + np.abs(Mdot).max())


def coriolis(model, q, v):
    """Christoffel's matrix, from the derivatives of M as symbols."""
    qs = ca.SX.sym("q", model.nq)
    M = model.mass_matrix(qs)
    dM = ca.Function("dM", [qs], [ca.jacobian(ca.vec(M), qs)])
    D = np.array(dM(q)).reshape(model.nv, model.nv, model.nv, order="F")  # D[i, j, k] = dM_ij / dq_k
    gamma = 0.5 * (D + D.transpose(0, 2, 1) - D.transpose(2, 1, 0).transpose(0, 1, 2))
    return np.einsum("ijk,k->ij", gamma, v)


@pytest.mark.parametrize("seed", range(20))
def test_inverse_dynamics_undoes_forward_dynamics_with_external_forces_and_armature(seed):
    model = with_armature(random_tree(10, seed), seed)
    q, v, tau = (x[0] for x in states(model, 1, seed))
    rng = np.random.default_rng(seed)
    external = {"link3": rng.standard_normal(6), "link7": rng.standard_normal(6)}
    a = model.forward_dynamics(q, v, tau, external=external)
    assert relative(model.inverse_dynamics(q, v, a, external=external), tau) < 1e-9
    M = model.mass_matrix(q)
    h = model.inverse_dynamics(q, v, np.zeros(model.nv))
    push = sum(model.link_jacobian(q, link).T @ force for link, force in external.items())
    assert relative(a, np.linalg.solve(M, tau - h + push)) < 1e-9
    assert relative(model.inverse_mass_matrix(q) @ M, np.eye(model.nv)) < 1e-9


def with_armature(model, seed):
    from dataclasses import replace

    return replace(model, armature=np.random.default_rng(seed).uniform(0, 0.1, model.nv))


def test_the_double_pendulum_in_closed_form():
    """Point masses on rods: the textbook equations of motion, in the absolute angles x and y of the rods."""
    l, m1, m2, g = 1.0, 1.0, 2.0, 9.81
    model = double_pendulum(l, m1, m2)
    for x, y, dx, dy in np.random.default_rng(0).uniform(-2, 2, (20, 4)):
        c, s = np.cos(x - y), np.sin(x - y)
        left = np.array([[(m1 + m2) * l * l, m2 * l * l * c], [m2 * l * l * c, m2 * l * l]])
        right = -np.array(
            [
                m2 * l * l * s * dy * dy + (m1 + m2) * g * l * np.sin(x),
                -m2 * l * l * s * dx * dx + m2 * g * l * np.sin(y),
            ]
        )
        absolute = np.linalg.solve(left, right)
        a = model.forward_dynamics([x, y - x], [dx, dy - dx], [0.0, 0.0])
        assert relative(np.cumsum(a), absolute) < 1e-12


def test_mujoco_agrees_on_tree_dynamics(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    from support.mjcf_robot import MJCF, to_mujoco, velocity_to_mujoco
    from trisweep.dynamics import load_mjcf

    path = tmp_path / "robot.xml"
    path.write_text(MJCF)
    model, source = load_mjcf(path), mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(source)
    assert (model.nq, model.nv) == (source.nq, source.nv)
    q, v, tau = states(model, 50, seed=5)
    for n in range(len(q)):
        data.qpos[:] = to_mujoco(model, q[n])
        data.qvel[:] = velocity_to_mujoco(model, q[n], v[n])
        data.qfrc_applied[:] = velocity_to_mujoco(model, q[n], tau[n])
        mujoco.mj_forward(source, data)
        a = model.forward_dynamics(q[n], v[n], tau[n])
        turning = np.zeros(model.nv)  # MuJoCo differentiates the base's velocity in the world, we in the body
        turning[:3] = np.cross(v[n][3:6], v[n][:3])
        assert relative(data.qacc, velocity_to_mujoco(model, q[n], a + turning)) < 1e-9
        for link in ("hand", "foot"):
            assert abs(model.link_pose(q[n], link)[1] - data.body(link).xpos).max() < 1e-12
        assert abs(model.link_pose(q[n], "tip")[1] - data.site("tip").xpos).max() < 1e-12


def test_a_massless_moving_link_is_a_clear_error():
    from trisweep.dynamics import ModelError

    builder = ModelBuilder("hollow")
    builder.add("link", joint="revolute")
    with pytest.raises(ModelError, match="joint 'link_joint' moves no mass, expected inertia"):
        builder.build().forward_dynamics([0.1], [0.0], [1.0])
