"""Models from URDF files. Children of a link come in the alphabetical order of their joints, as in Pinocchio."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np

from .builder import ModelBuilder
from .errors import ModelError
from .model import Model, Shape
from .spatial import placement


def load_urdf(path: str | Path, floating_base: bool = False, mimic: str = "reject") -> Model:
    """The model of a URDF file.

    `floating_base` hangs the root link on a floating joint "root_joint" instead of fixing it to the world. `mimic`
    says what to do with joints that mimic others: "reject" raises, "free" reads them as joints of their own, as
    Pinocchio does.
    """
    robot = _parse(Path(path))
    if mimic not in ("reject", "free"):
        raise ModelError(f"mimic is '{mimic}', expected 'reject' or 'free'")
    links = {link.name: link for link in robot.links}
    children: dict[str, list] = {name: [] for name in links}
    for joint in sorted(robot.joints, key=lambda joint: joint.name):
        _check(joint, links, mimic)
        children[joint.parent].append(joint)
    builder = ModelBuilder(robot.name or Path(path).stem)
    root = _root(robot, Path(path))
    kind = "floating" if floating_base else "fixed"
    builder.add(root, "universe", kind, name="root_joint", **_mass(links[root]))
    pending = list(reversed(children[root]))
    while pending:
        joint = pending.pop()
        _add(builder, joint, links[joint.child])
        pending.extend(reversed(children[joint.child]))
    for link in robot.links:
        for visual in link.visuals or ():
            _draw(builder, link.name, visual, Path(path))
    return builder.build()


def _parse(path: Path):
    """yourdfpy's plain reading of the file, without meshes."""
    if not path.is_file():
        raise ModelError(f"there is no file '{path}', expected a URDF")
    import yourdfpy

    logging.getLogger("yourdfpy").setLevel(logging.ERROR)
    try:
        return yourdfpy.URDF.load(
            str(path), build_scene_graph=False, build_collision_scene_graph=False, load_meshes=False
        ).robot
    except Exception as error:
        raise ModelError(f"'{path}' cannot be read as URDF: {error}") from error


def _check(joint, links: dict, mimic: str) -> None:
    for end in (joint.parent, joint.child):
        if end not in links:
            raise ModelError(f"joint '{joint.name}': link '{end}' is not in the file, expected one of its links")
    if joint.mimic is not None and mimic == "reject":
        raise ModelError(
            f"joint '{joint.name}' mimics '{joint.mimic.joint}', expected joints that move on their own "
            "(load_urdf(..., mimic='free') reads it as one)"
        )


def _root(robot, path: Path) -> str:
    under = [joint.child for joint in robot.joints]
    roots = [link.name for link in robot.links if link.name not in under]
    twice = {name for name in under if under.count(name) > 1}
    if len(roots) != 1 or twice:
        raise ModelError(f"'{path}' has root links {roots} and links with two parents {sorted(twice)}, expected a tree")
    return roots[0]


def _mass(link) -> dict:
    """Mass, centre of mass and inertia along the link's axes."""
    inertial = link.inertial
    if inertial is None:
        return {}
    origin = np.eye(4) if inertial.origin is None else inertial.origin
    tensor = np.zeros((3, 3)) if inertial.inertia is None else inertial.inertia
    R = origin[:3, :3]
    return {"mass": float(inertial.mass or 0.0), "com": origin[:3, 3], "inertia": R @ tensor @ R.T}


def _add(builder: ModelBuilder, joint, link) -> None:
    origin = np.eye(4) if joint.origin is None else joint.origin
    options = _mass(link) | {"position": origin[:3, 3], "rotation_matrix": origin[:3, :3], "name": joint.name}
    if joint.type != "fixed" and joint.axis is not None:
        options["axis"] = joint.axis
    limit, dynamics = joint.limit, joint.dynamics
    if limit is not None:
        options["velocity"] = np.inf if limit.velocity is None else limit.velocity
        options["effort"] = np.inf if limit.effort is None else limit.effort
        if joint.type in ("revolute", "prismatic"):
            options["lower"] = 0.0 if limit.lower is None else limit.lower
            options["upper"] = 0.0 if limit.upper is None else limit.upper
    if dynamics is not None:
        options["damping"] = dynamics.damping or 0.0
    builder.add(link.name, joint.parent, joint.type, **options)


def _draw(builder: ModelBuilder, link: str, visual, path: Path) -> None:
    origin = np.eye(4) if visual.origin is None else visual.origin
    where = placement(origin[:3, :3], origin[:3, 3])
    colour = None
    if visual.material is not None and visual.material.color is not None:
        colour = tuple(float(c) for c in visual.material.color.rgba)
    shape = visual.geometry
    if shape.box is not None:
        builder.shape(Shape("box", tuple(map(float, shape.box.size)), link, where, colour=colour))
    elif shape.sphere is not None:
        builder.shape(Shape("sphere", (float(shape.sphere.radius),), link, where, colour=colour))
    elif shape.cylinder is not None:
        size = (float(shape.cylinder.radius), float(shape.cylinder.length))
        builder.shape(Shape("cylinder", size, link, where, colour=colour))
    elif shape.mesh is not None:
        scale = np.broadcast_to(1.0 if shape.mesh.scale is None else shape.mesh.scale, (3,))
        builder.shape(Shape("mesh", tuple(map(float, scale)), link, where, mesh=shape.mesh.filename, colour=colour))
