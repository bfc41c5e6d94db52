"""The mechanisms with closed loops that tests and benches share; see `loop_workshop` for what each of them has."""

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from support.loop_workshop import Mechanism, Workshop
from support.robot_oracles import ours, twin
from trisweep.dynamics import Shape, load_urdf
from trisweep.dynamics.algebra.spatial import from_rpy, placement
from trisweep.problems.robot import robot_file


@cache
def four_bar(rows: str = "point", crank=0.3, coupler=0.7, rocker=0.6, ground=0.8, angle=1.1) -> Mechanism:
    """Crank and rocker on the ground, the coupler on the crank; turns about y. The plane makes rows dependent.

    A point (rank 2 of 3) or a hinge (2 of 5) joins the coupler's tip to the rocker's; a weld (3 of 6) joins the
    rocker's halves, of which the upper hangs on the coupler.
    """
    shop = Workshop(f"four-bar by {rows}")
    q = four_bar_configuration(crank, coupler, rocker, ground, angle)
    rods = [
        ("crank", "universe", 0.0, crank),
        ("coupler", "crank", crank, coupler),
        ("rocker", "universe", ground, rocker),
    ]
    if rows == "weld":
        rods[2] = ("rocker", "universe", ground, rocker / 2)
        rods.insert(2, ("upper rocker", "coupler", coupler, -rocker / 2))
        q = np.insert(q, 2, q[2] - q[1] - q[0])
    for name, parent, at, length in rods:
        mass, middle = abs(length), (length / 2, 0, 0)
        inertia = abs(length) ** 3 / 12 * np.diag([1e-3, 1.0, 1.0])
        shop.add(name, parent, position=(at, 0, 0), mass=mass, com=middle, inertia=inertia)
        box = Shape("box", (mass, 0.03, 0.03), name, placement(np.eye(3), np.array(middle)))
        shop.builder.shape(box)
    if rows == "weld":
        shop.close("upper rocker", "rocker", rows, (-rocker / 2, 0, 0))
    else:
        shop.close("coupler", "rocker", rows, (coupler, 0, 0))
    return shop.finish(q)


def four_bar_configuration(crank, coupler, rocker, ground, angle) -> np.ndarray:
    """Angles (crank, coupler relative to it, rocker), rad, of the closed loop, elbow up; turns about y lift x to -z."""
    tip = crank * np.array([np.cos(angle), np.sin(angle)])
    across = np.array([ground, 0.0]) - tip
    d = np.linalg.norm(across)
    bend = np.arccos(np.clip((coupler**2 + d**2 - rocker**2) / (2 * coupler * d), -1, 1))
    absolute = np.arctan2(across[1], across[0]) + bend
    joint = tip + coupler * np.array([np.cos(absolute), np.sin(absolute)])
    return -np.array([angle, absolute - angle, np.arctan2(joint[1], joint[0] - ground)])


CURL = {"finger": (0.0, 0.9, 0.7, 0.5), "thumb": (1.2, 0.3, 0.5, 0.6)}
TIPS = ("link_3.0_tip", "link_7.0_tip", "link_11.0_tip", "link_15.0_tip")
GRASP = np.concatenate([CURL["finger"], CURL["thumb"], CURL["finger"], CURL["finger"]])  # joints in the order 0 12 4 8
CUBE = {"mass": 0.1, "com": (0, 0, 0), "inertia": 0.1 * 0.05**2 / 6 * np.eye(3)}


@cache
def grasp(hands: int = 1) -> Mechanism:
    """One or two Allegro hands that hold a free cube with their fingertips, points of three rows each."""
    shop = Workshop(f"{hands} Allegro hand{'s' * (hands > 1)} and a cube")
    shop.attach(ours("allegro"), twin("allegro"))
    if hands == 2:
        left = ours("allegro_left"), twin("allegro_left")
        shop.attach(*left, prefix="left/", position=(0.15, 0.02, 0.0), rpy=(0, 0, np.pi))
    hold_a_cube(shop, ["", "left/"][:hands])
    q = np.concatenate([*[GRASP] * hands, np.zeros(7)])
    return shop.finish(with_the_cube_at_the_tips(shop, q), reach=0.15, effort=0.1)


def hold_a_cube(shop: Workshop, prefixes) -> None:
    shop.add("cube", joint="floating", **CUBE)
    shop.builder.shape(Shape("box", (0.05, 0.05, 0.05), "cube", placement(np.eye(3), np.zeros(3))))
    for prefix in prefixes:
        for tip in TIPS:
            shop.close(prefix + tip, "cube", "point")


def with_the_cube_at_the_tips(shop: Workshop, q: np.ndarray) -> np.ndarray:
    """q with the cube, its last seven coordinates, between all fingertips."""
    q[-7:] = [0, 0, 0, 0, 0, 0, 1]
    data = shop.pin.model.createData()
    pin.forwardKinematics(shop.pin.model, data, q)
    tips = [data.oMi[joint] * on for link, (joint, on) in shop.pin.of.items() if link.endswith("_tip")]
    q[-7:-4] = np.mean([tip.translation for tip in tips], axis=0)
    return q


SOLES = ("l_ankle", "r_ankle")


@cache
def carrier(feet: bool = True) -> Mechanism:
    """A humanoid with an Allegro hand on each wrist, both holding one cube, its feet welded to the ground or free."""
    shop = Workshop("humanoid, two Allegro hands and a cube")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "handed.urdf"
        file.write_text(handed_urdf())
        body = load_urdf(file, floating_base=True, mimic="free")
        shop.attach(body, pin.buildModelFromUrdf(str(file), pin.JointModelFreeFlyer()))
    hold_a_cube(shop, ["left/", "right/"])
    if feet:
        for sole in SOLES:
            shop.close(sole, None, "weld", (0, 0, -0.05))
    q = pin.neutral(shop.pin.model)
    q[7:-7] = np.random.default_rng(3).uniform(-0.3, 0.3, len(q) - 14)
    for name, angle in zip(grasping_joints(shop), np.tile(GRASP, 2)):
        q[shop.pin.model.joints[shop.pin.model.getJointId(name)].idx_q] = angle
    return shop.finish(with_the_cube_at_the_tips(shop, q), reach=0.1, effort=0.3)


def grasping_joints(shop: Workshop) -> list[str]:
    """The joints of the hands, in their order."""
    return [name for name in shop.pin.model.names if "/joint" in name]


def handed_urdf() -> str:
    """The file of a humanoid with a hand at the end of each arm, so that all joints are in depth-first order."""
    body = ElementTree.parse(robot_file("simple_humanoid")).getroot()
    for hand, wrist, prefix in (("allegro_left", "l_wrist", "left/"), ("allegro", "r_wrist", "right/")):
        parts = ElementTree.parse(robot_file(hand)).getroot()
        for part in [*parts.iter("link"), *parts.iter("joint")]:
            part.set("name", prefix + part.get("name"))
            for end in [*part.findall("parent"), *part.findall("child")]:
                end.set("link", prefix + end.get("link"))
            body.append(part)
        joint = ElementTree.SubElement(body, "joint", name=prefix + "wrist", type="fixed")
        ElementTree.SubElement(joint, "parent", link=wrist)
        ElementTree.SubElement(joint, "child", link=prefix + "palm_link")
        ElementTree.SubElement(joint, "origin", xyz="0 0 -0.1", rpy=f"0 {np.pi} 0")
    return ElementTree.tostring(body, encoding="unicode")


@cache
def legs(cube: bool = False) -> Mechanism:
    """Two legs in the manner of Cassie on a floating pelvis: in each a rod on a ball from hip to heel closes the loop
    over knee and shin, a rod from a crank to the foot another one, which is planar and so has dependent rows; the feet
    are welded to the ground. With a cube, two arms hold it by points.
    """
    shop = Workshop("legs with loops" + " and a cube" * cube)
    shop.add("pelvis", joint="floating", mass=10.0, com=(0.05, 0, 0.03), inertia=np.diag([0.1, 0.1, 0.12]))
    angles = []
    for side, y in (("left", 0.135), ("right", -0.135)):
        leg = [
            ("hip roll", "pelvis", "revolute", (1, 0, 0), (0.02, y, 0), 1.8),
            ("hip yaw", "hip roll", "revolute", (0, 0, 1), (0, 0, -0.07), 1.2),
            ("hip pitch", "hip yaw", "revolute", (0, 1, 0), (0, 0, -0.09), 5.5),
            ("achilles rod", "hip pitch", "spherical", (0, 1, 0), (-0.04, 0.02, -0.02), 0.16),
            ("knee", "hip pitch", "revolute", (0, 1, 0), (0.12, 0, 0.05), 0.8),
            ("shin", "knee", "revolute", (0, 1, 0), (0.06, 0, 0.08), 0.6),
            ("tarsus", "shin", "revolute", (0, 1, 0), (0.43, 0, 0.02), 0.9),
            ("foot crank", "tarsus", "revolute", (0, 1, 0), (0.06, 0.01, -0.03), 0.12),
            ("plantar rod", "foot crank", "revolute", (0, 1, 0), (0.055, 0, 0), 0.12),
            ("foot", "tarsus", "revolute", (0, 1, 0), (0.41, 0, -0.04), 0.15),
        ]
        for name, parent, joint, axis, position, mass in leg:
            long = {"shin": 0.22, "tarsus": 0.2, "plantar rod": 0.18, "achilles rod": 0.25}.get(name, 0.03)
            onto = parent if parent == "pelvis" else f"{side} {parent}"
            body = {"mass": mass, "com": (long, 0.005, 0.01)}
            body["inertia"] = mass * (1e-3 * np.eye(3) + long**2 / 3 * np.diag([0, 1, 1]))
            shop.add(f"{side} {name}", onto, joint, axis, position, **body)
        shop.close(f"{side} achilles rod", f"{side} tarsus", "point", (0.5, 0, 0))
        shop.close(f"{side} plantar rod", f"{side} foot", "point", (0.36, 0, 0.01))
        shop.close(f"{side} foot", None, "weld", (0.05, 0, -0.05))
        angles += [
            0.05,
            -0.03,
            0.5,
            *pin.Quaternion(from_rpy((0.1, 0.9, 0.05))).coeffs(),
            -1.1,
            0.05,
            1.6,
            -0.4,
            0.5,
            -1.3,
        ]
    if cube:
        angles += two_arms(shop)
    return shop.finish([0, 0, 1.0, 0, 0, 0, 1, *angles], reach=0.12)


def two_arms(shop: Workshop) -> list[float]:
    """Arms of four joints on the pelvis, and a cube held between them."""
    for side, y in (("left", 0.2), ("right", -0.2)):
        axes = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 0))
        shop.tip(
            lambda i, y=y: {"axis": axes[i], "position": (0.02, y, 0.3) if i == 0 else (0.05 + 0.12 * (i % 2), 0, 0)},
            "pelvis",
            4,
            f"{side} arm ",
        )
    shop.add("cube", joint="floating", **CUBE)
    for side in ("left", "right"):
        shop.close(f"{side} arm 3", "cube", "point", (0.2, 0, 0))
    return [0.1, 0.2, -0.3, 0.6, -0.1, 0.3, 0.2, 0.5, 0.35, 0, 1.2, 0, 0, 0, 1]


def along(i: int) -> dict:
    """The i-th link of a chain: axes and placements in generic directions, the same in every run."""
    rng = np.random.default_rng(100 + i)
    axis = rng.standard_normal(3)
    return {"axis": axis / np.linalg.norm(axis), "position": (0.2, 0, 0), "rpy": rng.uniform(-0.6, 0.6, 3)}


def aligned(i: int) -> dict:
    """The i-th link of a chain as arms have them: about z and y in turn."""
    return {"axis": (0, i % 2, 1 - i % 2), "position": (0.2, 0, 0)}


Growth = Callable[[int], dict]


@cache
def single_loop(links: int, growth: Growth = along) -> Mechanism:
    """A cycle (Sathya 2025 Fig. 6a): a floating link, a chain on it, the last link welded to the first."""
    shop = Workshop(f"loop of {links}")
    shop.add("link0", joint="floating")
    tip = shop.tip(growth, "link0", links - 1, "chain")
    shop.close(tip, "link0", "weld", (0.2, 0, 0))
    return shop.finish(generic(shop))


@cache
def chain_of_loops(loops: int, growth: Growth = along) -> Mechanism:
    """Loops of seven links on a root, which is the middle link of the loop before (Sathya 2025 Fig. 7a)."""
    shop = Workshop(f"chain of {loops} loops")
    root = shop.add("root", joint="floating")
    for k in range(loops):
        tip = shop.tip(lambda i, k=k: growth(11 * k + i), root, 7, f"loop{k}/")
        shop.close(tip, root, "weld", (0.2, 0, 0))
        root = f"loop{k}/3"
    return shop.finish(generic(shop))


@cache
def worst_case(loops: int, growth: Growth = along, spacing: int = 4) -> Mechanism:
    """A chain in which loop i spans links i s to (m + i) s: each shares joints with every other (Sathya 2025 Fig.
    8a).
    """
    shop = Workshop(f"{loops} coupled loops")
    shop.add("base", joint="floating")
    shop.tip(growth, "base", 2 * loops * spacing, "link")
    for i in range(loops):
        start = "base" if i == 0 else f"link{i * spacing - 1}"
        shop.close(f"link{(loops + i) * spacing - 1}", start, "weld", (0.2, 0, 0))
    return shop.finish(generic(shop))


@cache
def favourable(branches: int, growth: Growth = along, length: int = 7) -> Mechanism:
    """Branches on one link, each tip welded to the next one's (Sathya 2025 Fig. 9a)."""
    shop = Workshop(f"{branches} branches")
    shop.add("base", joint="floating")
    tips = [shop.tip(lambda i, k=k: growth(length * k + i), "base", length, f"branch{k}/") for k in range(branches)]
    for tip, other in pairwise(tips):
        shop.close(tip, other, "weld", (0.2, 0, 0))
    return shop.finish(generic(shop))


def generic(shop: Workshop) -> np.ndarray:
    """A configuration without symmetry."""
    model = shop.pin.model
    return pin.integrate(model, pin.neutral(model), np.random.default_rng(7).uniform(-0.5, 0.5, model.nv))


MECHANISMS: dict[str, Callable[[], Mechanism]] = {
    "four-bar": four_bar,
    "four-bar hinged": lambda: four_bar("hinge"),
    "four-bar welded": lambda: four_bar("weld"),
    "hand and cube": grasp,
    "two hands and cube": lambda: grasp(2),
    "humanoid, hands, cube": lambda: carrier(feet=False),
    "humanoid on feet, hands, cube": carrier,
    "legs": legs,
    "legs and cube": lambda: legs(cube=True),
    "single loop": lambda: single_loop(10),
    "chain of loops": lambda: chain_of_loops(3),
    "worst case": lambda: worst_case(3),
    "favourable": lambda: favourable(4),
}
