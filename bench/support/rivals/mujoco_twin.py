"""The same robot in MuJoCo: an MJCF written from a `Model`, its constraints as equalities, and a state set."""

import mujoco
import numpy as np
from trisweep.dynamics.algebra.quaternion import of_matrix
from trisweep.dynamics.joints.joints import Floating, Prismatic, Revolute


def numbers(values) -> str:
    return " ".join(f"{value:.17g}" for value in np.ravel(values))


def wxyz(R) -> str:
    return numbers(np.roll(of_matrix(R).ravel(), 1))


def body_xml(model, i: int) -> str:
    """Body i with its joint, inertia and children."""
    joint, where, body = model.joints[i], model.placements[i], model.inertias[i]
    mass = max(body.m, 1e-6)
    com = body.h / mass
    tensor = body.tensor - mass * (float((com.T @ com)[0, 0]) * np.eye(3) - com @ com.T)
    axis = np.eye(3)[joint.axis]
    if isinstance(joint, Floating):
        hinge = "<freejoint/>"
    elif isinstance(joint, (Revolute, Prismatic)):
        kind = "slide" if isinstance(joint, Prismatic) else "hinge"
        hinge = f'<joint name="{joint.name}" type="{kind}" axis="{numbers(axis)}"/>'
    else:
        raise ValueError(f"joint '{joint.name}' has no twin here")
    order = [tensor[0, 0], tensor[1, 1], tensor[2, 2], tensor[0, 1], tensor[0, 2], tensor[1, 2]]
    inertial = f'<inertial mass="{mass}" pos="{numbers(com)}" fullinertia="{numbers(order)}"/>'
    children = "".join(body_xml(model, j) for j in range(model.size) if model.parents[j] == i)
    place = f'pos="{numbers(where.p)}" quat="{wxyz(where.fixed)}"'
    return f'<body name="b{i}" {place}>{hinge}{inertial}{children}</body>'


def mujoco_twin(model, constraints, q, v, tau):
    """mjModel and mjData at a state; equalities hold by one Newton iteration, contacts and limits are off."""
    equalities = ""
    for constraint in constraints:
        body = f"b{model.frame(constraint.link).body}"
        kind = f'<connect body1="{body}" anchor="0 0 0"/>' if constraint.classical else f'<weld body1="{body}"/>'
        equalities += kind
    roots = "".join(body_xml(model, i) for i in range(model.size) if model.parents[i] < 0)
    xml = (
        '<mujoco><compiler angle="radian" inertiafromgeom="false" balanceinertia="true" boundmass="1e-6"'
        ' boundinertia="1e-9"/>'
        '<option solver="Newton" iterations="1"><flag contact="disable" limit="disable"/></option>'
        f"<worldbody>{roots}</worldbody><equality>{equalities}</equality></mujoco>"
    )
    source = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(source)
    moved = np.array(q)
    if isinstance(model.joints[0], Floating):
        moved[3:7] = np.roll(moved[3:7], 1)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = moved, v, tau
    return source, data
