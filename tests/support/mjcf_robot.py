"""A small MJCF robot with every kind of joint, and the way from our coordinates to MuJoCo's."""

import numpy as np
from trisweep.dynamics.files.mjcf import mujoco_model

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


class Mujoco:
    """MuJoCo's accelerations of the robot in a file, in our coordinates: contacts and limits off, actuators silent."""

    def __init__(self, path, model, equalities=False):
        import mujoco

        self.path, self.model, self.forward, self.step = str(path), model, mujoco.mj_forward, mujoco.mj_step
        self.source = mujoco_model(path)
        off = mujoco.mjtDisableBit
        self.source.opt.disableflags |= off.mjDSBL_CONTACT | off.mjDSBL_LIMIT
        self.source.opt.disableflags |= 0 if equalities else off.mjDSBL_EQUALITY
        self.source.actuator_gainprm[:], self.source.actuator_biasprm[:] = 0.0, 0.0
        if not equalities:  # friction loss as stiff as a step of 1e-6 s would bear: in full from slow motions on
            self.source.opt.timestep = 1e-6 if self.source.opt.integrator == 0 else self.source.opt.timestep
            self.source.dof_solref[:], self.source.tendon_solref_fri[:] = (2e-6, 1), (2e-6, 1)
        self.data = mujoco.MjData(self.source)

    def put(self, q, v, tau):
        self.data.qpos[:] = to_mujoco(self.model, q)
        self.data.qvel[:], self.data.qfrc_applied[:] = (self._turned(q, x) for x in (v, tau))
        self.forward(self.source, self.data)

    def acceleration(self, q, v, tau):
        self.put(q, v, tau)
        a = self._turned(q, self.data.qacc, back=True)
        for part in self._floating():  # MuJoCo differentiates a base's velocity in the world, we in the body
            a[part][:3] -= np.cross(v[part][3:], v[part][:3])
        return a

    def _floating(self):
        return [part for joint, part in zip(self.model.joints, self.model.v_slices) if joint.floats]

    def _turned(self, q, x, back=False):
        """The linear parts of floating joints along the world's axes, or back along the body's."""
        x = np.array(x)
        for joint, part, at in zip(self.model.joints, self.model.v_slices, self.model.q_slices):
            if joint.floats:
                u, w = q[at][3:6], q[at][6]
                W = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
                R = np.eye(3) + 2 * w * W + 2 * W @ W
                x[part][:3] = (R.T if back else R) @ x[part][:3]
        return x
