"""Models from URDF files. Children of a link come in the alphabetical order of their joints, as in Pinocchio."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ModelError
from ...whole_file import path_of
from ..algebra.spatial import placement
from ..kinematic_tree import Shape
from ..model import Model
from .builder import ModelBuilder
from .urdf_elements import Element, named, robot_of

Joints = dict[str, tuple[Element, str, str]]  # by name: the element, the parent link and the child link


def load_urdf(path: str | Path, floating_base: bool = False, mimic: str = "reject") -> Model:
    """The model of a URDF file.

    `floating_base` hangs the root link on a floating joint "root_joint" instead of fixing it to the world. `mimic`
    says what to do with joints that mimic others: "reject" raises, "free" reads them as joints of their own, as
    Pinocchio does.
    """
    if mimic not in ("reject", "free"):
        raise ModelError(f"mimic is '{mimic}', expected 'reject' or 'free'")
    path = path_of(path, "load_urdf", ModelError)
    robot = robot_of(path)
    try:
        return _model(robot, robot.source.get("name") or path.stem, floating_base, mimic, path.resolve().parent)
    except ModelError as error:
        sentence = str(error)
        raise ModelError(sentence if f"'{path}'" in sentence else f"'{path}': {sentence}") from None


def _model(robot: Element, name: str, floating_base: bool, mimic: str, folder: Path) -> Model:
    links, joints = named(robot, "link"), _joints(robot, mimic)
    children: dict[str, list[str]] = {link: [] for link in links}
    for joint, (_, parent, child) in sorted(joints.items()):
        for end in (parent, child):
            if end not in links:
                raise ModelError(f"joint '{joint}': link '{end}' is not in the file, expected one of its links")
        children[parent].append(joint)
    root = _root(links, joints)
    builder = ModelBuilder(name)
    builder.add(root, "universe", "floating" if floating_base else "fixed", name="root_joint", **_mass(links[root]))
    pending = list(reversed(children[root]))
    while pending:
        joint = pending.pop()
        element, parent, child = joints[joint]
        builder.add(child, parent, element.text("type"), name=joint, **_joint(element), **_mass(links[child]))
        pending.extend(reversed(children[child]))
    if loose := [link for link in links if link not in builder.frames]:
        raise ModelError(f"links {loose} hang on each other in a circle, expected a tree")
    colours = _colours(robot, links)
    for link, element in links.items():
        for visual in element.all("visual"):
            if (shape := _shape(link, visual, colours)) is not None:
                builder.shape(shape)
        for solid in element.all("collision"):
            if (shape := _shape(link, solid, {})) is not None:
                builder.collision_shape(_found(shape, folder))
    return builder.build()


def _joints(robot: Element, mimic: str) -> Joints:
    joints = {}
    for name, element in named(robot, "joint").items():
        if mimic == "reject" and (other := element["mimic"]) is not None:
            raise ModelError(
                f"joint '{name}' mimics '{other.text('joint')}', expected joints that move on their own "
                "(load_urdf(..., mimic='free') reads it as one)"
            )
        joints[name] = element, element.needed("parent").text("link"), element.needed("child").text("link")
    return joints


def _root(links: dict[str, Element], joints: Joints) -> str:
    if not links:
        raise ModelError("the file has no <link>, expected at least one")
    parents = Counter(child for _, _, child in joints.values())
    roots = [link for link in links if link not in parents]
    twice = sorted(link for link, count in parents.items() if count > 1)
    if len(roots) != 1 or twice:
        raise ModelError(f"the file has root links {roots} and links with two parents {twice}, expected a tree")
    return roots[0]


def _mass(link: Element) -> dict[str, Any]:
    """Mass, centre of mass and inertia along the link's axes."""
    inertial = link["inertial"]
    if inertial is None:
        return {}
    R, com = inertial.pose()
    tensor = inertial.needed("inertia")
    xx, yy, zz = (tensor.number(axes) for axes in ("ixx", "iyy", "izz"))
    xy, xz, yz = (tensor.number(axes, "0") for axes in ("ixy", "ixz", "iyz"))
    inertia = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
    return {"mass": inertial.needed("mass").number("value"), "com": com, "inertia": inertia}


def _joint(joint: Element) -> dict[str, Any]:
    """Where a joint sits on its parent link, how it moves, and its limits."""
    options: dict[str, Any] = {}
    if (origin := joint["origin"]) is not None:
        options |= {"position": origin.numbers("xyz", 3, "0 0 0"), "rpy": origin.numbers("rpy", 3, "0 0 0")}
    kind, axis, limit, dynamics = joint.text("type"), joint["axis"], joint["limit"], joint["dynamics"]
    if kind != "fixed":
        options["axis"] = np.array([1.0, 0.0, 0.0]) if axis is None else axis.numbers("xyz", 3)
    if limit is not None:
        options["velocity"] = limit.number("velocity", "inf", finite=False)
        options["effort"] = limit.number("effort", "inf", finite=False)
        if kind in ("revolute", "prismatic"):
            options["lower"] = limit.number("lower", "0", finite=False)
            options["upper"] = limit.number("upper", "0", finite=False)
    if dynamics is not None:
        options["damping"] = dynamics.number("damping", "0")
    return options


def _colours(robot: Element, links: dict[str, Element]) -> dict[str, tuple[float, ...]]:
    """The colours of materials that are named once and used elsewhere: by the robot itself, or by a link."""
    inside = [
        material for link in links.values() for visual in link.all("visual") for material in visual.all("material")
    ]
    colours: dict[str, tuple[float, ...]] = {}
    for material in [*inside, *robot.all("material")]:
        if (name := material.source.get("name")) and (colour := _colour(material)):
            colours[name] = colour
    return colours


def _colour(material: Element) -> tuple[float, ...] | None:
    colour = material["color"]
    return None if colour is None else tuple(colour.numbers("rgba", 4).tolist())


def _shape(link: str, visual: Element, colours: dict[str, tuple[float, ...]]) -> Shape | None:
    """What a visual draws; None for a geometry that URDF does not know."""
    where, geometry, material = placement(*visual.pose()), visual.needed("geometry"), visual["material"]
    colour = None
    if material is not None:
        colour = _colour(material) or colours.get(material.source.get("name", ""))
    if (box := geometry["box"]) is not None:
        return Shape("box", tuple(box.numbers("size", 3).tolist()), link, where, colour=colour)
    if (sphere := geometry["sphere"]) is not None:
        return Shape("sphere", (sphere.number("radius"),), link, where, colour=colour)
    for kind in ("cylinder", "capsule"):
        if (round_ := geometry[kind]) is not None:
            return Shape(kind, (round_.number("radius"), round_.number("length")), link, where, colour=colour)
    if (mesh := geometry["mesh"]) is not None:
        scale = mesh.text("scale", "1 1 1")
        size = mesh.numbers("scale", 3, scale) if len(scale.split()) > 1 else np.full(3, mesh.number("scale", scale))
        return Shape("mesh", tuple(size.tolist()), link, where, mesh=mesh.text("filename"), colour=colour)
    return None


def _found(shape: Shape, folder: Path) -> Shape:
    """A shape whose mesh is looked for beside the file and above it, with and without the package's name."""
    if shape.mesh is None:
        return shape
    name = shape.mesh.removeprefix("package://").removeprefix("file://")
    inside = name.split("/", 1)[-1] if shape.mesh.startswith("package://") else name
    for above in (folder, *folder.parents):
        for path in (above / name, above / inside):
            if path.is_file():
                return replace(shape, mesh=str(path))
    return shape
