"""Reading URDF: example-robot-data's files as Pinocchio reads them, and a sentence for whatever is wrong with one."""

from importlib import metadata
from pathlib import Path

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support.robot_oracles import states, twin
from trisweep.dynamics import ModelError, load_urdf
from trisweep.problems.robot import robot

FILES = {
    str(file).split("robots/", 1)[-1]: Path(file.locate())
    for file in metadata.files("example-robot-data") or ()
    if str(file).endswith(".urdf")
}

URDF = """<?xml version="1.0"?>
<!-- a comment -->
<robot name="lamp">
  <material name="brass"><color rgba=".8 .6 .2 1"/></material>
  <link name="foot"/>
  <link name="arm">
    <inertial><origin xyz="0 0 .1" rpy=".1 .2 .3"/><mass value="2"/>
      <inertia ixx=".1" ixy=".01" ixz="0" iyy=".1" iyz=".02" izz=".05"/></inertial>
    <visual><origin xyz="0 0 .2"/><geometry><cylinder radius=".02" length=".4"/></geometry>
      <material name="brass"/></visual>
    <visual><geometry><mesh filename="package://lamp/arm.stl" scale=".1 .2 .3"/></geometry>
      <material name="red"><color rgba="1 0 0 1"/></material></visual>
    <visual><geometry><sphere radius=".1"/></geometry><material name="red"/></visual>
    <visual><geometry><mesh filename="arm.dae" scale="2"/></geometry></visual>
    <visual><geometry><capsule radius=".1" length=".3"/></geometry></visual>
    <visual><geometry><ellipsoid size="1 2 3"/></geometry></visual>
    <collision><geometry><box size="1 1 1"/></geometry></collision>
  </link>
  <link name="shade"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1"/></inertial></link>
  <joint name="hinge" type="revolute"><parent link="foot"/><child link="arm"/><origin xyz="0 0 1" rpy="0 .5 0"/>
    <limit lower="-1" upper="1" effort="30" velocity="2"/><dynamics damping="0.4" friction=".1"/></joint>
  <joint name="neck" type="continuous"><parent link="arm"/><child link="shade"/><axis xyz="0 1 1"/></joint>
  <transmission name="drive"><joint name="hinge"><hardwareInterface>effort</hardwareInterface></joint></transmission>
  <gazebo><link name="ghost"/></gazebo>
</robot>
"""


def written(folder, *changes):
    """The lamp's file with pieces of its text replaced."""
    text = URDF
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "lamp.urdf"
    path.write_text(text)
    return path


def test_there_are_files_to_compare():
    assert len(FILES) > 40


@pytest.mark.parametrize("name", sorted(FILES))
def test_every_file_that_pinocchio_reads_moves_as_in_pinocchio(name):
    path = FILES[name]
    try:
        other = pin.buildModelFromUrdf(str(path))
    except (ValueError, RuntimeError) as error:
        pytest.skip(f"Pinocchio does not read it: {error}")
    if other.nv == 0:
        with pytest.raises(ModelError, match="no moving joint"):
            load_urdf(path)
        return
    model = load_urdf(path, mimic="free")
    assert (model.nq, model.nv) == (other.nq, other.nv)
    assert list(model.joint_names) == list(other.names)[1:]
    bounded = np.isfinite(model.q_lower)
    for ours, theirs in ((model.q_lower, other.lowerPositionLimit), (model.q_upper, other.upperPositionLimit)):
        np.testing.assert_allclose(ours[bounded], theirs[bounded], rtol=0, atol=1e-12)
    for ours, theirs in ((model.effort_limit, other.upperEffortLimit), (model.v_limit, other.upperVelocityLimit)):
        limited = np.isfinite(ours)
        np.testing.assert_allclose(ours[limited], theirs[limited], rtol=0, atol=1e-12)
    q, v, a = (x[0] for x in states(model, 1))
    data = other.createData()
    expected = pin.rnea(other, data, q, v, a)
    assert np.abs(model.inverse_dynamics(q, v, a) - expected).max() <= 1e-10 * np.abs(expected).max()
    pin.framesForwardKinematics(other, data, q)
    for link in model.frames:
        if link != "universe" and other.existBodyName(link):
            pose = data.oMf[other.getBodyId(link)]
            R, p = model.link_pose(q, link)
            np.testing.assert_allclose(
                np.column_stack([R, p]), np.column_stack([pose.rotation, pose.translation]), atol=1e-10
            )


def test_what_a_file_says_and_what_it_leaves_out(tmp_path):
    path = written(tmp_path)
    model, other = (
        load_urdf(path),
        pin.buildModelFromXML(URDF.replace('ixx=".1" iyy', 'ixx=".1" ixy="0" ixz="0" iyz="0" iyy')),
    )
    assert (model.name, model.joint_names) == ("lamp", ("hinge", "neck"))
    assert list(model.frames) == ["universe", "foot", "arm", "shade"]
    assert (model.q_lower[0], model.q_upper[0], model.v_limit[0], model.effort_limit[0]) == (-1.0, 1.0, 2.0, 30.0)
    assert np.isinf(model.v_limit[1]) and model.damping.tolist() == [0.4, 0.0]
    q, v, a = (x[0] for x in states(model, 1))
    np.testing.assert_allclose(
        model.inverse_dynamics(q, v, a), pin.rnea(other, other.createData(), q, v, a), rtol=1e-12
    )
    assert load_urdf(path, floating_base=True).joint_names == ("root_joint", "hinge", "neck")


def test_what_there_is_to_draw(tmp_path):
    shapes = load_urdf(written(tmp_path)).shapes
    red, brass = (1.0, 0.0, 0.0, 1.0), (0.8, 0.6, 0.2, 1.0)
    assert [(s.kind, s.size, s.colour) for s in shapes] == [
        ("cylinder", (0.02, 0.4), brass),
        ("mesh", (0.1, 0.2, 0.3), red),
        ("sphere", (0.1,), red),
        ("mesh", (2.0, 2.0, 2.0), None),
        ("capsule", (0.1, 0.3), None),
    ]
    assert shapes[1].mesh == "package://lamp/arm.stl" and {shape.link for shape in shapes} == {"arm"}
    np.testing.assert_array_equal(np.ravel(shapes[0].placement.p), [0, 0, 0.2])


NECK = '<parent link="arm"/><child link="shade"/>'


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ([("</robot>", "")], "lamp.urdf' cannot be read as URDF: .*, expected XML"),
        ([("robot", "sdf")], "lamp.urdf' cannot be read as URDF: its root is <sdf>, expected <robot>"),
        ([("<link", "<xacro:link")], "cannot be read as URDF: unbound prefix.*; xacro files are turned into URDF"),
        (
            [
                ('name="lamp"', 'name="lamp" xmlns:r="http://www.ros.org/wiki/xacro"'),
                ('<link name="foot"/>', "<r:foot/>"),
            ],
            "lamp.urdf' has xacro elements, expected URDF",
        ),
        ([('<link name="foot"/>', "")], "lamp.urdf': joint 'hinge': link 'foot' is not in the file"),
        ([('<link name="foot"/>', "<link/>")], "lamp.urdf': <robot>: <link> has no name, expected one"),
        ([('name="shade"', 'name="arm"')], "lamp.urdf': link 'arm' is there twice, expected one of that name"),
        ([('name="neck"', 'name="hinge"')], "lamp.urdf': joint 'hinge' is there twice"),
        (
            [('<link name="foot"/>', '<link name="foot"/><link name="hat"/>')],
            r"root links \['foot', 'hat'\].*expected a tree",
        ),
        (
            [('<parent link="foot"/>', '<parent link="shade"/>'), ('<link name="foot"/>', "")],
            r"root links \[\].*expected a tree",
        ),
        (
            [('<parent link="foot"/>', '<parent link="shade"/>')],
            r"links \['arm', 'shade'\] hang on each other in a circle",
        ),
        ([(NECK, '<child link="shade"/>')], "joint 'neck' has no <parent>, expected one"),
        ([(NECK, '<parent link="arm"/><child/>')], "joint 'neck': <child> has no link, expected one"),
        ([('name="neck" type="continuous"', 'name="neck"')], "joint 'neck' has no type, expected one"),
        (
            [('type="continuous"', 'type="screw"')],
            "lamp.urdf': joint 'neck': kind is 'screw', expected fixed, revolute",
        ),
        ([('xyz="0 1 1"', 'xyz="0 0 0"')], "joint 'neck': axis has norm 0, expected 1"),
        ([('xyz="0 1 1"', 'xyz="0 1"')], "joint 'neck': <axis> has xyz='0 1', expected 3 finite numbers"),
        ([('xyz="0 1 1"', 'xyz="0,1,1"')], "joint 'neck': <axis> has xyz='0,1,1', expected 3 finite numbers"),
        ([("<axis xyz", "<axis abc")], "joint 'neck': <axis> has no xyz, expected one"),
        (
            [('xyz="0 0 1" rpy', 'xyz="0 nan 1" rpy')],
            "joint 'hinge': <origin> has xyz='0 nan 1', expected 3 finite numbers",
        ),
        ([('lower="-1"', 'lower="3"')], r"joint 'hinge': limits are lower \[3.\] > upper \[1.\]"),
        ([('lower="-1"', 'lower="low"')], "joint 'hinge': <limit> has lower='low', expected a number"),
        ([('lower="-1"', 'lower="nan"')], r"joint 'hinge': lower is \[nan\], expected a number"),
        ([('damping="0.4"', 'damping="inf"')], "joint 'hinge': <dynamics> has damping='inf', expected a finite number"),
        ([('<mass value="2"/>', "")], "link 'arm': <inertial> has no <mass>, expected one"),
        ([('value="2"', 'value="nan"')], "link 'arm': <inertial>: <mass> has value='nan', expected a finite number"),
        ([('value="2"', 'value="-2"')], "link 'arm': mass is -2"),
        ([('<inertia ixx=".1" iyy=".1" izz=".1"/>', "")], "link 'shade': <inertial> has no <inertia>, expected one"),
        ([('iyy=".1" izz=".1"', 'iyy=".1"')], "link 'shade': <inertial>: <inertia> has no izz, expected one"),
        (
            [('size="1 1 1"', ""), ('radius=".02"', 'radius="thin"')],
            "<cylinder> has radius='thin', expected a finite number",
        ),
        (
            [('rgba=".8 .6 .2 1"', 'rgba=".8 .6 .2"')],
            "<material>: <color> has rgba='.8 .6 .2', expected 4 finite numbers",
        ),
        (
            [('<axis xyz="0 1 1"/>', '<mimic joint="hinge"/>')],
            "lamp.urdf': joint 'neck' mimics 'hinge', expected joints that move on their own",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path, changes, sentence):
    with pytest.raises(ModelError, match=sentence):
        load_urdf(written(tmp_path, *changes))


def test_files_without_links_without_motion_and_of_no_text(tmp_path):
    path = tmp_path / "bare.urdf"
    path.write_text("<robot/>")
    with pytest.raises(ModelError, match=r"bare.urdf': the file has no <link>, expected at least one"):
        load_urdf(path)
    path.write_text('<robot><link name="a"/></robot>')
    with pytest.raises(ModelError, match=r"bare.urdf': model 'bare' has no moving joint"):
        load_urdf(path)
    path.write_bytes(bytes(range(128, 256)))
    with pytest.raises(ModelError, match="cannot be read as URDF"):
        load_urdf(path)
    with pytest.raises(ModelError, match="there is no file"):
        load_urdf(tmp_path)
    with pytest.raises(ModelError, match="mimic is 'follow', expected 'reject' or 'free'"):
        load_urdf(path, mimic="follow")


def test_a_joint_without_mass_is_named_when_it_is_to_move(tmp_path):
    inertial = '<inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1"/></inertial>'
    model = load_urdf(written(tmp_path, (inertial, "")))
    zero, q = np.zeros(2), ca.SX.sym("q", 3)
    for state in ((model.neutral(), zero, zero), (q, ca.SX.sym("v", 2), ca.SX.sym("tau", 2))):
        with pytest.raises(ModelError, match="joint 'neck' moves no mass, expected inertia along every joint's motion"):
            model.forward_dynamics(*state)


@pytest.mark.parametrize("name", ["ur10", "icub"])
def test_angles_of_printed_digits_are_read_as_written(name):
    """1.57079632679 is no right angle: the energy of the file as written, which Pinocchio reads."""
    model, other = robot(name), twin(name)
    data = other.createData()
    for q in (model.random_configuration(seed) for seed in range(5)):
        energy = pin.computePotentialEnergy(other, data, q)
        assert abs(model.potential_energy(q).item() - energy) < 1e-12 * max(1.0, abs(energy))
