"""A small MJCF robot with every kind of joint, and the way from our coordinates to MuJoCo's."""

import numpy as np

MJCF = """
<mujoco>
  <compiler angle="radian"/>
  <option gravity="0 0.5 -9.81"><flag constraint="disable"/></option>
  <worldbody>
    <body name="torso" pos="0 0 1">
      <freejoint name="root"/>
      <geom type="box" size=".2 .1 .1" mass="3"/>
      <body name="arm" pos=".2 .1 0" quat=".9 .1 .3 .2">
        <joint name="shoulder" type="ball" pos="0 0 .05" armature="0.02"/>
        <geom type="capsule" fromto="0 0 0 .3 .1 0" size=".03" mass="1"/>
        <body name="hand" pos=".3 .1 0" euler=".1 .2 .3">
          <joint name="slide" type="slide" axis="1 0 1" damping=".3" ref=".1"/>
          <joint name="wrist" type="hinge" axis="0 1 0" pos=".02 0 .03" damping=".2" armature=".01"
            range="-1 1.5" ref=".4"/>
          <geom type="sphere" size=".05" mass=".5" pos=".05 0 0"/>
          <site name="tip" pos=".1 0 0"/>
        </body>
      </body>
      <body name="leg" pos="0 -.1 -.1">
        <joint name="hip" type="hinge" axis="1 .3 0" range="-2 2"/>
        <geom type="cylinder" size=".03 .15" mass="1.5" pos="0 0 -.15"/>
        <body name="foot" pos="0 0 -.3">
          <joint name="ankle" type="hinge" axis="0 1 0"/>
          <geom type="box" size=".08 .03 .02" mass=".4"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def to_mujoco(model, q):
    """Quaternions with w first."""
    q = q.copy()
    for joint, part in zip(model.joints, model.q_slices):
        unit = joint.unit
        if unit.stop - unit.start == 4:
            turn = slice(part.start + unit.start, part.start + unit.stop)
            q[turn] = np.roll(q[turn], 1)
    return q


def velocity_to_mujoco(model, q, v):
    """The linear velocity (or force) of a floating base along the world's axes."""
    v = v.copy()
    R = model.link_pose(q, "torso")[0]
    v[:3] = R @ v[:3]
    return v
