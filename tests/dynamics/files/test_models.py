"""Models: files, the builder, the manifold, and the sentences for what is wrong."""

import copy
import pickle

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
import trisweep as ts
from support.robot_oracles import ROBOTS, ours, states, twin
from trisweep.dynamics import ModelBuilder, ModelError, load_mjcf, load_urdf, random_tree
from trisweep.dynamics.files.link_values import align
from trisweep.problems.robot import EXAMPLES, robot_file

URDF = """
<robot name="small">
  <link name="base"/>
  <link name="arm"><inertial><origin xyz="0 0 .1" rpy=".1 .2 .3"/><mass value="2"/>
    <inertia ixx=".1" ixy=".01" ixz="0" iyy=".1" iyz=".02" izz=".05"/></inertial>
    <visual><geometry><box size=".1 .2 .3"/></geometry></visual></link>
  <link name="tool"><inertial><mass value="1"/>
    <inertia ixx=".1" ixy="0" ixz="0" iyy=".1" iyz="0" izz=".1"/></inertial></link>
  <link name="hand"><inertial><mass value="1"/>
    <inertia ixx=".1" ixy="0" ixz="0" iyy=".1" iyz="0" izz=".1"/></inertial></link>
  <joint name="lift" type="{lift}"><parent link="base"/><child link="arm"/><origin xyz="0 0 1"/><axis xyz="{axis}"/>
    <limit lower="{lower}" upper="1" effort="30" velocity="2"/><dynamics damping="0.4"/></joint>
  <joint name="mount" type="fixed"><parent link="arm"/><child link="tool"/><origin xyz="0 .1 .2" rpy="0 0 1"/></joint>
  <joint name="grip" type="prismatic"><parent link="tool"/><child link="{child}"/><axis xyz="1 1 0"/>
    <limit lower="0" upper=".1" effort="5" velocity=".5"/>{extra}</joint>
</robot>
"""


def write(folder, **changes):
    path = folder / "small.urdf"
    values = {"lift": "revolute", "axis": "0 1 0", "lower": "-1", "child": "hand", "extra": ""}
    path.write_text(URDF.format(**(values | changes)))
    return path


def test_a_urdf_with_fixed_joints_limits_and_shapes(tmp_path):
    model = load_urdf(write(tmp_path))
    assert model.joint_names == ("lift", "grip")
    assert list(model.frames) == ["universe", "base", "arm", "tool", "hand"]
    assert model.frames["tool"].body == model.frames["arm"].body == 0
    assert (model.q_lower[0], model.q_upper[1], model.v_limit[1], model.effort_limit[0]) == (
        -1.0,
        0.1,
        0.5,
        30.0,
    )
    assert model.damping.tolist() == [0.4, 0.0]
    assert model.inertias[0].m == 3.0
    assert model.shapes[0].kind == "box" and model.shapes[0].size == (0.1, 0.2, 0.3)
    assert load_urdf(write(tmp_path), floating_base=True).joint_names == ("root_joint", "lift", "grip")


@pytest.mark.parametrize("name", ROBOTS)
def test_limits_and_order_are_pinocchios(name):
    model, other = ours(name), twin(name)
    assert (model.nq, model.nv) == (other.nq, other.nv)
    bounded = np.isfinite(model.q_lower) & np.isfinite(model.q_upper)
    assert bounded.sum() >= 6
    assert np.allclose(model.q_lower[bounded], other.lowerPositionLimit[bounded], rtol=0, atol=1e-12)
    assert np.allclose(model.q_upper[bounded], other.upperPositionLimit[bounded], rtol=0, atol=1e-12)
    finite = np.isfinite(model.effort_limit)
    assert np.allclose(model.effort_limit[finite], other.upperEffortLimit[finite])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"axis": "0 0 0"}, "joint 'lift': axis has norm 0, expected 1"),
        ({"lower": "2"}, r"joint 'lift': limits are lower \[2.\] > upper \[1.\], expected lower <= upper"),
        ({"lower": "nan"}, r"joint 'lift': lower is \[nan\], expected a number"),
        ({"lift": "screw"}, "joint 'lift': kind is 'screw', expected fixed, revolute"),
        ({"child": "claw"}, "joint 'grip': link 'claw' is not in the file"),
        ({"child": "arm"}, r"links with two parents \['arm'\], expected a tree"),
        (
            {"extra": '<mimic joint="lift"/>'},
            "joint 'grip' mimics 'lift', expected joints that move on their own",
        ),
    ],
)
def test_bad_files_get_a_sentence(tmp_path, changes, sentence):
    with pytest.raises(ModelError, match=sentence):
        load_urdf(write(tmp_path, **changes))


@pytest.mark.parametrize("only_z", [True, False])
@pytest.mark.parametrize(
    "axis", [(0, 0, -1), (1e-9, 0, -1), (0, 1e-7, 1), (-3e-8, -1, 0), (1, 1e-14, 0), (1e-3, 2e-3, -1), (0.6, 0, -0.8)]
)
def test_a_joint_moves_along_its_axis_however_close_to_another(axis, only_z):
    axis = np.array(axis) / np.linalg.norm(axis)
    k, R = align(axis, only_z)
    np.testing.assert_allclose(R[:, k], axis, rtol=0, atol=1e-15 if only_z else 1e-12)
    np.testing.assert_allclose(R.T @ R, np.eye(3), rtol=0, atol=1e-15)
    assert np.linalg.det(R) > 0


def test_a_mimic_joint_can_be_read_as_free(tmp_path):
    assert load_urdf(write(tmp_path, extra='<mimic joint="lift"/>'), mimic="free").nv == 2


def test_files_that_are_not_there_or_not_xml(tmp_path):
    with pytest.raises(ModelError, match=r"there is no file '.*gone.urdf', expected a URDF"):
        ts.load(tmp_path / "gone.urdf")
    (tmp_path / "bad.urdf").write_text("<robot")
    with pytest.raises(ModelError, match="cannot be read as URDF"):
        ts.load(tmp_path / "bad.urdf")
    (tmp_path / "bad.xml").write_text("<mujoco")
    with pytest.raises(ModelError, match="cannot be read as MJCF"):
        ts.load(tmp_path / "bad.xml")
    with pytest.raises(ModelError, match=r"ends in '.sdf', expected .urdf, .xml or .mjcf"):
        ts.load("robot.sdf")


def test_an_unknown_robot_is_answered_with_those_there_are():
    with pytest.raises(ModelError, match=r"there is no robot 'hal', expected one of .*go1.*iiwa14.*talos"):
        ts.robot("hal")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda b: b.add("a", joint="hinge"), "joint 'a_joint': kind is 'hinge', expected fixed"),
        (lambda b: b.add("a", "b"), "link 'a': parent 'b' is not there, expected one of universe"),
        (lambda b: b.add("a").add("a"), "link 'a' is there already, expected a new name"),
        (lambda b: b.add("a", joint="revolute", mass=-1.0), "link 'a': mass is -1"),
        (lambda b: b.add("a", mass=ca.SX.sym("weight")), r"link 'a': mass is SX\(weight\), expected numbers"),
        (lambda b: b.add("a", mass=None), "link 'a': mass is None, expected numbers"),
        (lambda b: b.build(), "model 'm' has no moving joint, expected at least one"),
    ],
)
def test_mistakes_at_the_builder_get_a_sentence(make, sentence):
    with pytest.raises(ModelError, match=sentence):
        make(ModelBuilder("m"))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda m, q, z: m.forward_dynamics(q[:-1], z, z), r"q has shape \(18, 1\), expected \(19,\)"),
        (lambda m, q, z: m.forward_dynamics(q, z[:3], z), r"v has shape \(3, 1\), expected \(18,\)"),
        (
            lambda m, q, z: m.forward_dynamics(q, z, z * np.nan),
            "tau: entry 0 is not finite, expected a number",
        ),
        (
            lambda m, q, z: m.forward_dynamics(0 * q, z, z),
            "joint 'root_joint': quaternion has norm 0, expected 1",
        ),
        (
            lambda m, q, z: m.compiled.forward_dynamics(0 * q, z, z),
            "joint 'root_joint': quaternion has norm 0, expected 1",
        ),
        (
            lambda m, q, z: m.compiled.forward_dynamics(q, z[:3], z),
            r"v has shape \(3,\), expected \(18,\) or \(count, 18\)",
        ),
        (lambda m, q, z: m.compiled.forward_dynamics(q, z + np.inf, z), "v has an entry that is not finite"),
        (lambda m, q, z: m.normalise(0 * q), "norm 0, expected one with a direction"),
        (lambda m, q, z: m.inverse_dynamics(q, z, z, {"trunk": z}), "external force on 'trunk' has shape"),
        (lambda m, q, z: m.forward_dynamics("q", z, z), "q is of type str, expected numbers or CasADi SX symbols"),
        (
            lambda m, q, z: m.forward_dynamics(ca.MX.sym("q", 19), z, z),
            "q is of type MX, expected numbers or CasADi SX",
        ),
        (lambda m, q, z: m.link_pose(q, "wing"), "has no link 'wing', expected one of"),
    ],
)
def test_bad_arguments_get_a_sentence_and_leave_the_model_usable(call, sentence):
    model = ours("go1")
    q, z = model.neutral(), np.zeros(model.nv)
    with pytest.raises(ModelError, match=sentence):
        call(model, q, z)
    assert np.isfinite(model.forward_dynamics(q, z, z)).all()


TURNED = {"mass": 1.0, "inertia": np.diag([1.0, 1.0, -0.5])}


@pytest.mark.parametrize("joint", ["revolute", "floating", "spherical", "planar"])
def test_an_inertia_that_no_body_has_is_refused_where_a_joint_moves_it(joint):
    builder = ModelBuilder("odd").add("arm", joint="prismatic", mass=1.0).add("odd", "arm", joint, **TURNED)
    with pytest.raises(ModelError, match=r"link 'odd' has principal moments of inertia -0.5, 1, 1 kg m\^2, expected"):
        builder.build()


def test_an_inertia_that_no_body_has_is_said_where_all_joints_move_a_positive_one():
    builder = ModelBuilder("odd").add("slide", joint="prismatic", **TURNED)
    with pytest.warns(UserWarning, match="link 'slide' has principal moments of inertia -0.5, 1, 1"):
        model = builder.build()
    assert model.forward_dynamics([0.0], [0.0], [2.0]) + 9.81 == pytest.approx(2.0)
    on_a_heavy_one = ModelBuilder("odd").add("arm", joint="floating", mass=9.0, inertia=np.eye(3))
    with pytest.warns(UserWarning, match="link 'antenna' has"):
        model = on_a_heavy_one.add("antenna", "arm", **TURNED).build()
    M = model.mass_matrix(model.neutral())
    assert np.linalg.eigvalsh(M).min() > 0


@pytest.mark.filterwarnings("error")
def test_rounding_is_no_negative_inertia_and_the_ground_may_have_any():
    rod = np.diag([1e-3, 1e-3, 0.0]) + 1e-20 * np.diag([0.0, 0.0, -1.0])
    builder = ModelBuilder("rod").add("ground", **TURNED).add("rod", "ground", "floating", mass=1.0, inertia=rod)
    builder.build()


def test_what_is_refused_leaves_the_builder_as_it_was():
    builder = ModelBuilder("arm")
    for wrong in (
        {"lower": [1, 2]},
        {"inertia": [[1, 2, 0], [0, 1, 0], [0, 0, 1]]},
        {"armature": -1.0},
        {"mass": -1.0},
        {"damping": np.nan},
        {"rotation_matrix": 2 * np.eye(3)},
        {"position": [0, 0, np.inf]},
        {"upper": "a"},
    ):
        with pytest.raises(ModelError, match="link"):
            builder.add("link", joint="revolute", **{"mass": 1.0} | wrong)
    model = builder.add("link", joint="revolute", mass=1.0, com=(1.0, 0.0, 0.0)).build()
    assert model.forward_dynamics([0.0], [0.0], [1.0]) == pytest.approx(1.0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("speed", [1e160, 1e200, 1e308])
def test_answers_are_finite_or_a_sentence(speed):
    """With numbers out of all proportion."""
    arm, q, v = ts.robot("iiwa14"), np.full(7, 0.3), np.full(7, speed)
    for verb in (arm.forward_dynamics, arm.inverse_dynamics, arm.compiled.forward_dynamics):
        with pytest.raises(ModelError, match=r"not finite, expected .*numbers of a sensible size"):
            verb(q, v, np.zeros(7))
    with pytest.raises(ModelError, match="not finite"):
        arm.kinetic_energy(q, v)
    assert np.isfinite(arm.forward_dynamics(q, q, q)).all()


def test_normalise_repairs_a_configuration():
    model = ours("go1")
    q = model.neutral()
    q[3:7] *= 3.0
    assert np.allclose(model.normalise(q), model.neutral())


def test_a_model_is_immutable_and_repeatable():
    model = random_tree(5, 3)
    with pytest.raises(AttributeError):
        model.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        model.armature[0] = 1.0
    again = random_tree(5, 3)
    q, v, tau = (x[0] for x in states(model, 1))
    assert (model.forward_dynamics(q, v, tau) == again.forward_dynamics(q, v, tau)).all()


def test_a_model_can_be_pickled_and_copied():
    model = ours("go1")
    q, v, tau = (x[0] for x in states(model, 1))
    a = model.compiled.forward_dynamics(q, v, tau)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert other.frame("FR_foot").body == model.frame("FR_foot").body
        assert np.allclose(other.forward_dynamics(q, v, tau), a, rtol=1e-12)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_every_ready_robot_loads_and_moves_as_in_pinocchio(name):
    path, floats = str(robot_file(name)), EXAMPLES[name][1]
    other = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if floats else pin.buildModelFromUrdf(path)
    model = ts.robot(name)
    q, v, tau = (x[0] for x in states(model, 1))
    expected = pin.aba(other, other.createData(), q, v, tau)
    assert np.abs(model.forward_dynamics(q, v, tau) - expected).max() < 1e-8 * np.abs(expected).max()


def test_a_batch_of_machine_code_has_the_shapes_of_its_arguments():
    model = ours("iiwa14")
    q, v, tau = states(model, 5)
    assert model.compiled.forward_dynamics(q[0], v[0], tau[0]).shape == (7,)
    assert model.compiled.forward_dynamics(q, v[0], tau[:1]).shape == (5, 7)
    assert model.compiled.mass_matrix(q).shape == (5, 7, 7)
    assert model.compiled.link_jacobian(q, "iiwa_flange").shape == (5, 6, 7)
    external = {"iiwa_flange": np.arange(6.0)}
    pushed = model.compiled.forward_dynamics(q, v, tau, external=external)
    assert np.allclose(pushed[2], model.forward_dynamics(q[2], v[2], tau[2], external=external), rtol=1e-11)


EQUALITIES = """
<mujoco><worldbody>
  <body name="a" pos="0.1 0.2 1"><joint type="hinge" axis="0 1 0"/><geom type="sphere" size=".1"/>
    <body name="b" pos="0 0 -.5"><joint type="ball"/><geom type="box" size=".1 .1 .2"/></body></body>
  <body name="c" pos="0 0 2"><freejoint/><geom type="sphere" size=".1"/></body>
</worldbody><equality>
  <connect body1="b" anchor="0 0 -.2"/><weld body1="c"/><connect body1="b" body2="c" anchor="0.1 0 0"/>{more}
</equality></mujoco>
"""


def test_equalities_of_mjcf_become_constraints_that_hold_at_the_files_pose(tmp_path):
    pytest.importorskip("mujoco")
    path = tmp_path / "loops.xml"
    path.write_text(EQUALITIES.format(more=""))
    model = load_mjcf(path)
    assert [(c.link, c.size, c.other) for c in model.constraints] == [
        ("b", 3, None),
        ("c", 6, None),
        ("b", 3, "c"),
    ]
    q, zero = model.neutral(), np.zeros(model.nv)
    q[model.q_slices[2].start + 2] = 2.0
    for constraint in model.constraints[:2]:
        R, p = model.link_pose(q, constraint.link)
        assert np.allclose(p + R @ constraint.frame.p.ravel(), constraint.target.p.ravel(), atol=1e-9)
        if not constraint.classical:
            assert np.allclose(R @ constraint.frame.R, constraint.target.R, atol=1e-9)
    a, _ = model.forward_dynamics(q, zero, zero, model.constraints[:2])
    assert np.abs(model.link_jacobian(q, "c") @ a).max() < 1e-9
    with pytest.raises(ModelError, match="constraint on 'b' and 'c' closes a loop"):
        model.forward_dynamics(q, zero, zero, model.constraints, "pv")
    a, _ = model.forward_dynamics(q, zero, zero, model.constraints)
    assert np.abs(model.link_jacobian(q, "c") @ a).max() < 1e-9
    path.write_text(
        EQUALITIES.format(more='<joint joint1="x" polycoef="0 1 0 0 0"/>').replace(
            '<joint type="hinge"', '<joint name="x" type="hinge"'
        )
    )
    with pytest.raises(ModelError, match="is of kind joint on 'x', expected connect or weld"):
        load_mjcf(path)
