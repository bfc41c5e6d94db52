"""Allegro hands that hold a cube with their fingertips, on the ground or on a humanoid's wrists."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

import numpy as np

from ...dynamics import Shape
from ...dynamics.algebra.spatial import placement
from ..robot import robot_file
from .mechanism import Mechanism
from .workshop import Workshop

CURL = {"finger": (0.0, 0.9, 0.7, 0.5), "thumb": (1.2, 0.3, 0.5, 0.6)}
TIPS = ("link_3.0_tip", "link_7.0_tip", "link_11.0_tip", "link_15.0_tip")
GRASP = np.concatenate([CURL["finger"], CURL["thumb"], CURL["finger"], CURL["finger"]])  # joints in the order 0 12 4 8
CUBE: dict[str, Any] = {"mass": 0.1, "com": (0, 0, 0), "inertia": 0.1 * 0.05**2 / 6 * np.eye(3)}
SOLES = ("l_ankle", "r_ankle")


@cache
def grasp(hands: int = 1) -> Mechanism:
    """One or two Allegro hands that hold a free cube with their fingertips, points of three rows each."""
    shop = Workshop(f"{hands} Allegro hand{'s' * (hands > 1)} and a cube")
    shop.attach(robot_file("allegro"))
    if hands == 2:
        shop.attach(robot_file("allegro_left"), prefix="left/", position=(0.15, 0.02, 0.0), rpy=(0, 0, np.pi))
    hold_a_cube(shop, ["", "left/"][:hands])
    q = np.concatenate([*[GRASP] * hands, np.zeros(7)])
    return shop.finish(with_the_cube_at_the_tips(shop, q), reach=0.15, effort=0.1)


def hold_a_cube(shop: Workshop, prefixes: Iterable[str]) -> None:
    shop.add("cube", joint="floating", **CUBE)
    shop.builder.shape(Shape("box", (0.05, 0.05, 0.05), "cube", placement(np.eye(3), np.zeros(3))))
    for prefix in prefixes:
        for tip in TIPS:
            shop.close(prefix + tip, "cube", "point")


def with_the_cube_at_the_tips(shop: Workshop, q: np.ndarray) -> np.ndarray:
    """q with the cube, its last seven coordinates, between all fingertips."""
    q[-7:] = [0, 0, 0, 0, 0, 0, 1]
    model = shop.builder.build()
    q[-7:-4] = np.mean([model.link_pose(q, link)[1] for link in model.frames if link.endswith("_tip")], axis=0)
    return q


@cache
def carrier(feet: bool = True) -> Mechanism:
    """A humanoid with an Allegro hand on each wrist, both holding one cube, its feet welded to the ground or free."""
    shop = Workshop("humanoid, two Allegro hands and a cube")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "handed.urdf"
        file.write_text(handed_urdf())
        shop.attach(file, floating_base=True)
    hold_a_cube(shop, ["left/", "right/"])
    if feet:
        for sole in SOLES:
            shop.close(sole, None, "weld", (0, 0, -0.05))
    model = shop.builder.build()
    q = np.array(model.neutral())
    q[7:-7] = np.random.default_rng(3).uniform(-0.3, 0.3, len(q) - 14)
    fingers = [part for name, part in zip(model.joint_names, model.q_slices) if "/joint" in name]
    for part, angle in zip(fingers, np.tile(GRASP, 2)):
        q[part] = angle
    return shop.finish(with_the_cube_at_the_tips(shop, q), reach=0.1, effort=0.3)


def handed_urdf() -> str:
    """The file of a humanoid with a hand at the end of each arm, so that all joints are in depth-first order."""
    body = ElementTree.parse(robot_file("simple_humanoid")).getroot()
    for hand, wrist, prefix in (("allegro_left", "l_wrist", "left/"), ("allegro", "r_wrist", "right/")):
        parts = ElementTree.parse(robot_file(hand)).getroot()
        for part in [*parts.iter("link"), *parts.iter("joint")]:
            part.set("name", prefix + part.attrib["name"])
            for end in [*part.findall("parent"), *part.findall("child")]:
                end.set("link", prefix + end.attrib["link"])
            body.append(part)
        joint = ElementTree.SubElement(body, "joint", name=prefix + "wrist", type="fixed")
        ElementTree.SubElement(joint, "parent", link=wrist)
        ElementTree.SubElement(joint, "child", link=prefix + "palm_link")
        ElementTree.SubElement(joint, "origin", xyz="0 0 -0.1", rpy=f"0 {np.pi} 0")
    return ElementTree.tostring(body, encoding="unicode")
