"""Hands of 24 dofs and five fingers, jointed like the Shadow hand of Sathya 2024b Fig. 6, on the wrists of a robot."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from trisweep.dynamics import Model, load_urdf

# Joints of each finger, from the palm on: abduction first, then flexion; the little finger's palm bends too.
FINGERS = {"first": 4, "middle": 4, "ring": 4, "little": 5, "thumb": 5}
WRIST, PHALANX, MASS = 2, 0.03, 0.02


def with_hands(path: Path, wrists: Sequence[str]) -> tuple[Model, list[str]]:
    """The floating robot of a URDF with a hand on each of those links, and the names of all finger tips."""
    root = ElementTree.parse(path).getroot()
    tips = []
    for wrist in wrists:
        palm = _chain(root, wrist, f"{wrist}_palm", WRIST)
        tips += [_chain(root, palm, f"{wrist}_{finger}", count) for finger, count in FINGERS.items()]
    for link in root.iter("link"):
        for part in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(part)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "dexterous.urdf"
        ElementTree.ElementTree(root).write(file)
        return load_urdf(file, floating_base=True), tips


def _chain(root: ElementTree.Element, parent: str, name: str, count: int) -> str:
    """So many links in a row, turning about x and then about y; the last one's name."""
    for k in range(count):
        link, axis = f"{name}_{k}", "1 0 0" if k == 0 else "0 1 0"
        body = f"<mass value='{MASS}'/><inertia ixx='1e-5' iyy='1e-5' izz='1e-5' ixy='0' ixz='0' iyz='0'/>"
        joint = f"<parent link='{parent}'/><child link='{link}'/><origin xyz='0 0 {PHALANX}'/><axis xyz='{axis}'/>"
        limit = "<limit lower='-1' upper='1' effort='1' velocity='1'/>"
        root.append(ElementTree.fromstring(f"<link name='{link}'><inertial>{body}</inertial></link>"))
        root.append(ElementTree.fromstring(f"<joint name='{link}_joint' type='revolute'>{joint}{limit}</joint>"))
        parent = link
    return parent
