"""MJCF robots beside MuJoCo: their passive forces, equalities, names; MuJoCo's own model, and robots of gymnasium."""

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from support.mjcf_robot import MJCF, Mujoco
from trisweep.adjoint import expand, solved
from trisweep.dynamics import (
    CarriedWeight,
    ModelBuilder,
    ModelError,
    PassiveJoint,
    Point,
    Stretch,
    Tendon,
    load_mjcf,
    simulate,
    weld,
)
from trisweep.dynamics.free.energy import total_mass

mujoco = pytest.importorskip("mujoco")

OWN = Path(mujoco.__file__).parent / "testdata" / "model.xml"
GYMNASIUM = find_spec("gymnasium")
ROBOTS = (
    "ant",
    "half_cheetah",
    "hopper",
    "humanoid",
    "inverted_double_pendulum",
    "pusher_v5",
    "reacher",
    "walker2d_v5",
)

SPRUNG = """
<mujoco>
  <compiler angle="radian"/>
  <option gravity="0.3 0.5 -9.81"/>
  <worldbody>
    <site name="hook" pos=".3 0 1.6"/>
    <body name="arm" pos="0 0 1" gravcomp="0.7">
      <joint name="shoulder" type="ball" stiffness="5" damping=".4"/>
      <geom type="capsule" fromto="0 0 0 .3 .1 0" size=".03" mass="1"/>
      <site name="arm" pos=".2 0 .05"/>
      <body name="fore" pos=".3 .1 0" euler=".1 .2 .3">
        <joint name="elbow" type="hinge" axis="0 1 .2" stiffness="8" springref=".4" ref=".1" damping=".2"/>
        <geom type="capsule" fromto="0 0 0 .25 0 0" size=".02" mass=".6"/>
        <site name="band" pos=".1 0 .04"/>
        <body name="tip" pos=".25 0 0" gravcomp="1.3">
          <joint name="slide" type="slide" axis="1 0 1" stiffness="40" damping=".5" armature=".02"/>
          <joint name="roll" type="hinge" axis="1 0 0" frictionloss=".05" damping=".01"/>
          <geom type="box" size=".05 .03 .02" pos=".05 .01 0" mass=".3"/>
          <site name="nail" pos=".08 0 0"/>
        </body>
      </body>
    </body>
    <body name="box" pos="1 0 1"><joint type="free" damping=".3"/><geom type="box" size=".1 .2 .1" mass="2"/>
      <site name="corner" pos=".1 .2 .1"/></body>
  </worldbody>
  <tendon>
    <fixed name="coupling" stiffness="30" damping=".3" springlength=".1 .3" frictionloss=".2">
      <joint joint="elbow" coef="1"/><joint joint="slide" coef="-2"/></fixed>
    <spatial name="cord" stiffness="50" damping="2" springlength=".2">
      <site site="hook"/><site site="arm"/><site site="band"/>
      <pulley divisor="2"/><site site="band"/><site site="nail"/>
    </spatial>
    <spatial name="leash" stiffness="20" springlength="0 1.2"><site site="nail"/><site site="corner"/></spatial>
    <spatial name="idle"><site site="hook"/><site site="corner"/></spatial>
  </tendon>
</mujoco>
"""


def states(model, count, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield model.random_configuration(rng), rng.standard_normal(model.nv), rng.standard_normal(model.nv)


def written(tmp_path, text, name="robot.xml"):
    path = tmp_path / name
    path.write_text(text)
    return path


def agrees(path, rubbing=False):
    model = load_mjcf(path)
    twin = Mujoco(path, model)
    for q, v, tau in states(model, 10):
        if rubbing:  # joint "roll", and "elbow" less twice "slide", fast enough for friction in full
            v[5], v[3] = v[5] + np.sign(v[5]), 2 * v[4] + np.sign(v[3])
        a, expected = model.forward_dynamics(q, v, tau), twin.acceleration(q, v, tau)
        assert np.abs(a - expected).max() < 1e-11 * np.abs(expected).max()
        assert np.abs(model.inverse_dynamics(q, v, a) - tau).max() < 1e-8 * max(1, np.abs(tau).max())
    return model


def test_mujocos_own_model_moves_as_mujoco_says(tmp_path):
    """Springs and dampers of sliding, turning and ball joints, gravity compensation, sites named like bodies."""
    with pytest.raises(ModelError, match=r"option: density is 1\.225, expected 0: forces of a fluid are not modelled"):
        load_mjcf(OWN)
    still = written(tmp_path, OWN.read_text().replace('density="1.225" viscosity="1.8e-5"', ""))
    model = agrees(still)
    assert len(model.passive) == 12 and len(model.constraints) == 1
    assert {"head", "site/head", "cylinder", "site/cylinder"} <= set(model.frames)
    assert model.frames["site/head"].body == model.frames["head"].body


@pytest.mark.skipif(GYMNASIUM is None, reason="gymnasium is not installed")
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.filterwarnings("ignore:.*settotalmass")
def test_robots_of_gymnasium_move_as_mujoco_says(name):
    agrees(Path(GYMNASIUM.origin).parent / "envs" / "mujoco" / "assets" / f"{name}.xml")


def test_what_mujoco_warns_of_is_a_warning_and_no_log_in_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, SPRUNG.replace('angle="radian"', 'angle="radian" settotalmass="3"'))
    with pytest.warns(UserWarning, match=r"robot\.xml': compiler attribute 'settotalmass' is deprecated"):
        model = load_mjcf(path)
    assert total_mass(model) == pytest.approx(3.0)
    assert list(tmp_path.iterdir()) == [path] and mujoco.get_mju_user_warning() is None


def test_every_kind_of_passive_force_is_mujocos(tmp_path):
    """Tendons over joints, sites and pulleys, slack between two lengths; friction loss where MuJoCo's is in full."""
    path = written(tmp_path, SPRUNG)
    model = agrees(path, rubbing=True)
    kinds = [type(force) for force in model.passive]
    assert [kinds.count(kind) for kind in (PassiveJoint, Tendon, CarriedWeight)] == [5, 3, 2]
    without = written(tmp_path, SPRUNG.replace('frictionloss=".05"', "").replace('frictionloss=".2"', ""), "plain.xml")
    agrees(without)


@pytest.mark.parametrize("flag", ["spring", "damper", "gravity", "frictionloss"])
def test_what_the_file_switches_off_does_not_act(tmp_path, flag):
    path = written(tmp_path, SPRUNG.replace('-9.81"/>', f'-9.81"><flag {flag}="disable"/></option>'))
    agrees(path, rubbing=True)


def test_passive_forces_are_in_machine_code_nodes_and_slopes(tmp_path):
    path = written(tmp_path, SPRUNG)
    model, h = load_mjcf(path), 1e-6
    q, v, tau = (ca.SX.sym(name, n) for name, n in (("q", model.nq), ("v", model.nv), ("tau", model.nv)))
    a = model.forward_dynamics(q, v, tau)
    node = ca.Function("node", [q, v, tau], [solved(a)])
    slope = ca.Function("slope", [q, v, tau], [expand(ca.vertcat(v, tau), a).jacobian])
    held = [weld("tip", period=None)]
    for at in states(model, 2, seed=1):
        expected = model.forward_dynamics(*at)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(model.compiled.forward_dynamics(*at), expected, atol=1e-10 * scale)
        np.testing.assert_allclose(node(*at).full().ravel(), expected, atol=1e-10 * scale)
        by_q, by_v, by_tau = model.compiled.forward_dynamics_slopes(*at)
        torque_by_q, torque_by_v, M = model.compiled.inverse_dynamics_slopes(*at[:2], expected)
        np.testing.assert_allclose(M @ by_q, -torque_by_q, atol=1e-8 * np.abs(torque_by_q).max())
        np.testing.assert_allclose(M @ by_v, -torque_by_v, atol=1e-8 * np.abs(torque_by_v).max())
        twin = Mujoco(path, load_mjcf(path))
        twin.source.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS
        smooth = replace(model, passive=tuple(frictionless(force) for force in model.passive))
        by_q, by_v, by_tau = smooth.compiled.forward_dynamics_slopes(*at)
        for k, d in enumerate(np.eye(model.nv)):
            ends = [twin.acceleration(model.integrate(at[0], s * d), *at[1:]) for s in (h, -h)]
            assert np.abs((ends[0] - ends[1]) / (2 * h) - by_q[:, k]).max() < 1e-5 * np.abs(by_q).max()
            ends = [twin.acceleration(at[0], at[1] + s * d, at[2]) for s in (h, -h)]
            assert np.abs((ends[0] - ends[1]) / (2 * h) - by_v[:, k]).max() < 1e-5 * np.abs(by_v).max()
        both = slope(*at).full()
        np.testing.assert_allclose(both[:, model.nv :], by_tau, atol=1e-8 * np.abs(by_tau).max())
        a_held, forces = model.compiled.forward_dynamics(*at, held)
        assert np.abs(model.inverse_dynamics(*at[:2], a_held, None, held, forces) - at[2]).max() < 1e-6
        tau_held, forces = model.constrained_inverse_dynamics(*at[:2], expected, [weld("box"), *held])
        back = model.inverse_dynamics(*at[:2], expected, None, [weld("box"), *held], forces)
        np.testing.assert_allclose(back, tau_held, atol=1e-8 * np.abs(tau_held).max())


def frictionless(force):
    return force if isinstance(force, CarriedWeight) else replace(force, friction=0.0)


def test_a_run_is_mujocos_and_its_energy_is_the_work_of_all_forces(tmp_path):
    text = SPRUNG.replace('frictionloss=".05"', "").replace('frictionloss=".2"', "")
    path = written(tmp_path, text.replace("<option ", '<option timestep="1e-3" integrator="RK4" '))
    model = load_mjcf(path)
    twin = Mujoco(path, model)
    q, v, tau = next(states(model, 1, seed=2))
    tau[-6:] = 0.0  # of the box, whose forces we hold along its axes, MuJoCo along the world's
    run = simulate(model, q, v, tau, duration=0.2, step=1e-3, integrator="rk4")
    twin.put(q, v, tau)
    for _ in range(200):
        twin.step(twin.source, twin.data)
    mujoco.mj_kinematics(twin.source, twin.data)
    for link in ("tip", "box"):
        np.testing.assert_allclose(model.link_pose(run.q[-1], link)[1], twin.data.body(link).xpos, atol=1e-6)
    change = np.abs(run.energy - run.energy[0] - run.work)
    assert np.ptp(run.energy) > 0.1 and change.max() < 1e-3 * np.ptp(run.energy)


def test_a_robot_that_is_attached_or_locked_keeps_its_passive_forces(tmp_path):
    model = load_mjcf(written(tmp_path, SPRUNG))
    twice = ModelBuilder("two", gravity=model.gravity)
    twice.attach(model, prefix="left/").attach(model, prefix="right/", position=(0.0, 0.0, 0.0))
    both = twice.build()
    ((q, v, tau),) = states(model, 1, seed=3)
    two = both.forward_dynamics(np.tile(q, 2), np.tile(v, 2), np.tile(tau, 2))
    np.testing.assert_allclose(two, np.tile(model.forward_dynamics(q, v, tau), 2), rtol=1e-9)
    elbow, part = model.joint_names.index("elbow"), model.v_slices[model.joint_names.index("elbow")]
    held = model.lock({"elbow": q[model.q_slices[elbow]]})
    v[part] = 0.0
    kept = np.delete(np.arange(model.nv), part.start)
    passive = held.passive_forces(np.delete(q, model.q_slices[elbow].start), v[kept])
    np.testing.assert_allclose(passive, model.passive_forces(q, v)[kept], rtol=1e-9, atol=1e-12)


def test_a_cord_from_the_world_goes_along_with_an_attached_robot():
    builder = ModelBuilder("crane").add("load", joint="prismatic", mass=1.0, axis=(0, 0, 1))
    cord = Tendon("rope", stretches=(Stretch(Point("universe", (0, 0, 2)), Point("load", (0, 0, 0))),), stiffness=3.0)
    crane = builder.build().with_passive(cord)
    carried = ModelBuilder("shipped").attach(crane, position=(1.0, 0.0, 0.5)).build()
    assert crane.passive_forces([0.5], [0.0]) == pytest.approx([4.5])
    assert carried.passive_forces([0.5], [0.0]) == pytest.approx([4.5])


LINKED = """
<mujoco><worldbody>
  <body name="a" pos="0 0 1"><joint name="x" axis="0 1 0"/><geom type="box" size=".1 .1 .2" mass="1"/>
    <site name="s" pos=".1 0 0"/>
    <body name="b" pos=".4 0 0"><joint name="y" axis="0 1 0"/><geom type="box" size=".2 .1 .1" mass="1"/>
      <site name="t" pos="0 .1 .2" euler="10 20 30"/></body></body>
  <body name="c" pos=".4 .1 1.2"><joint type="free"/><geom type="sphere" size=".1" mass="1"/><site name="u"/></body>
</worldbody>
<tendon><fixed name="cord"><joint joint="x" coef="1"/></fixed></tendon>
<equality>{rows}</equality></mujoco>
"""


def test_equalities_that_are_not_active_are_left_out(tmp_path):
    rows = '<connect name="on" body1="a" anchor="0 0 .2"/><weld name="off" body1="b" active="false"/>'
    rows += '<joint joint1="x" joint2="y" active="false"/>'
    model = load_mjcf(written(tmp_path, LINKED.format(rows=rows)))
    assert [(row.link, row.size) for row in model.constraints] == [("a", 3)]


def test_sites_may_be_connected(tmp_path):
    """As MuJoCo moves them; its rows are soft, by 1e-4 at the hardest: extrapolated to none."""
    path = written(tmp_path, LINKED.format(rows='<connect site1="t" site2="u"/>'))
    model = load_mjcf(path)
    (row,) = model.constraints
    assert (row.link, row.other, row.size) == ("b", "c", 3)
    q = model.neutral()
    q[2:5] = 0.4, 0.1, 1.2
    v, tau = np.zeros(model.nv), np.linspace(-1, 1, model.nv)
    found = model.forward_dynamics(q, v, tau, model.constraints)[0]
    twin = Mujoco(path, model, equalities=True)
    twin.source.opt.tolerance, twin.source.opt.iterations = 1e-14, 500
    soft = []
    for softness in (3e-4, 2e-4, 1e-4):
        hard = 1 - softness
        twin.source.eq_solref[:], twin.source.eq_solimp[:] = (-1e-9, -1e-9), (hard, hard, 1e-3, 0.5, 2)
        soft.append(twin.acceleration(q, v, tau))
    assert np.abs(found - (3 * soft[2] - 3 * soft[1] + soft[0])).max() < 1e-5 * np.abs(found).max()
    pinned = load_mjcf(written(tmp_path, LINKED.format(rows='<weld site1="t" site2="u"/>'), "pinned.xml"))
    assert pinned.constraints[0].size == 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("", '<joint name="gear" joint1="x" joint2="y"/>'),
            "equality 'gear' is of kind joint on 'x' and 'y', expected",
        ),
        (("", '<tendon tendon1="cord"/>'), "equality 'eq0' is of kind tendon on 'cord', expected connect or weld"),
        (('name="x"', 'name="x" stiffness="1 2"'), "joint 'x': stiffnesspoly is not modelled, expected 0"),
        (('name="x"', 'name="x" damping="1 2"'), "joint 'x': dampingpoly is not modelled, expected 0"),
        (('name="cord"', 'name="cord" armature=".1"'), "tendon 'cord': armature is not modelled, expected 0"),
        (('type="free"', 'type="free" stiffness="1"'), "free joint 'jnt2': stiffness is 1, expected 0"),
        (('type="free"', 'type="free" frictionloss="1"'), "free joint 'jnt2': friction is 1, expected 0"),
        (("<worldbody>", '<option viscosity=".1"/><worldbody>'), "option: viscosity is 0.1, expected 0"),
    ],
)
def test_what_is_not_modelled_is_refused_by_its_name(tmp_path, change, message):
    old, new = change
    text = LINKED.format(rows=new) if not old else LINKED.format(rows="").replace(old, new)
    with pytest.raises(ModelError, match=message):
        load_mjcf(written(tmp_path, text))


def test_a_tendon_around_a_geom_is_refused_where_it_pulls(tmp_path):
    wrapped = '<spatial name="w" {}><site site="s"/><geom geom="post"/><site site="t"/></spatial></tendon>'
    text = LINKED.format(rows="").replace(
        'mass="1"/>\n    <site', 'mass="1"/><geom name="post" size=".05"/>\n    <site'
    )
    assert not load_mjcf(written(tmp_path, text.replace("</tendon>", wrapped.format("")))).passive
    with pytest.raises(ModelError, match="tendon 'w' is laid around a geom, expected sites and pulleys alone"):
        load_mjcf(written(tmp_path, text.replace("</tendon>", wrapped.format('damping="1"'))))


@pytest.mark.parametrize(
    ("force", "message"),
    [
        (PassiveJoint("knee"), "has no joint 'knee', expected one of"),
        (PassiveJoint("wrist", damping=-1.0), "passive joint 'wrist': damping is -1.0, expected a finite number >= 0"),
        (PassiveJoint("wrist", stiffness=1.0, rest=(0.0, 1.0)), r"rest is \(0.0, 1.0\), expected 1 numbers"),
        (PassiveJoint("root", friction=1.0), "passive joint 'root': the joint floats"),
        (Tendon("t", joints=(("root", 1.0),)), "tendon 't': joint 'root' has 7 coordinates, expected one"),
        (Tendon("t", rest=(2.0, 1.0)), r"tendon 't': rest is \(2.0, 1.0\), expected two lengths"),
        (CarriedWeight(Point("tail", (0, 0, 0)), 1.0), "has no link 'tail'"),
        (CarriedWeight(Point("hand", (0, 0, 0)), np.nan), "carried weight of 'hand': mass is nan"),
        ("a spring", "passive holds 'a spring', expected PassiveJoint, Tendon or CarriedWeight"),
    ],
)
def test_passive_forces_of_ones_own_are_checked(tmp_path, force, message):
    model = load_mjcf(written(tmp_path, MJCF))
    with pytest.raises(ModelError, match=message):
        model.with_passive(force)
