"""MotionBenchMaker's problem sets (Chamzas et al. 2022), as the source archive of `vamp-planner` on PyPI carries them,
with robots made of spheres (Thomason et al. 2024).

The archive is fetched by pip into a cache of the user's, once, and read there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...dynamics import Model, Scene, load_urdf
from ...dynamics.algebra.quaternion import matrix
from ...dynamics.algebra.spatial import placement
from ...errors import ProblemError

ARCHIVE = "vamp-planner==0.6.4"
ROBOTS = ("panda", "ur5", "fetch")
SETS = ("bookshelf_small", "bookshelf_tall", "bookshelf_thin", "box", "cage", "table_pick", "table_under_pick")


@dataclass(frozen=True, eq=False)
class Question:
    """One problem of a set: from start to goal (nq,) among the obstacles of a scene."""

    set: str
    number: int
    start: np.ndarray
    goal: np.ndarray
    scene: Scene


def cache_folder() -> Path:
    """Where the archive is kept."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "trisweep" / ARCHIVE.replace("==", "-")


def archive() -> Path:
    """The folder of the unpacked archive, fetched where it is not there yet."""
    folder = cache_folder()
    if not (folder / "resources").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "vamp-planner"]
        try:
            subprocess.run([*command, "--dest", str(folder), ARCHIVE], check=True, capture_output=True, text=True)
        except subprocess.CalledProcessError as error:
            last = (error.stderr or "").strip().splitlines()[-1:]
            raise ProblemError(f"pip could not fetch {ARCHIVE}, expected a network or a mirror: {last}") from None
        with tarfile.open(next(folder.glob("*.tar.gz"))) as packed:
            for member in packed.getmembers():
                inside = member.name.split("/", 1)[-1]
                if member.isfile() and inside.startswith("resources/") and inside.endswith((".urdf", ".bz2")):
                    member.name = inside
                    packed.extract(member, folder, filter="data")
    return folder / "resources"


def sphere_robot(name: str) -> Model:
    """The robot of that name, made of spheres."""
    if name not in ROBOTS:
        raise ProblemError(f"there is no robot '{name}', expected one of {', '.join(ROBOTS)}")
    return load_urdf(archive() / name / f"{name}_spherized.urdf", mimic="free")


def questions(model: Model, robot: str, wanted: str, count: int) -> Iterator[Question]:
    """The first `count` problems of a set."""
    import yaml

    if wanted not in SETS:
        raise ProblemError(f"there is no set '{wanted}', expected one of {', '.join(SETS)}")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with tarfile.open(archive() / robot / "problems.tar.bz2") as packed:
        members = {member.name: member for member in packed.getmembers()}
        for number in range(1, count + 1):
            texts = []
            for kind in ("scene", "request"):
                name = f"problems/{wanted}_{robot}/{kind}{number:04d}.yaml"
                if name not in members:
                    return
                opened = packed.extractfile(members[name])
                assert opened is not None
                texts.append(yaml.load(opened.read(), Loader=loader))
            yield Question(wanted, number, *_ends(model, texts[1]), _scene(texts[0]))


def _ends(model: Model, request: Any) -> tuple[np.ndarray, np.ndarray]:
    state = request["start_state"]["joint_state"]
    start = dict(zip(state["name"], state["position"]))
    goal = {each["joint_name"]: each["position"] for each in request["goal_constraints"][0]["joint_constraints"]}
    both = [[values[name] for name in model.joint_names] for values in (start, goal)]
    return np.array(both[0], dtype=float), np.array(both[1], dtype=float)


def _scene(read: Any) -> Scene:
    scene = Scene()
    for thing in read["world"]["collision_objects"]:
        base = _pose(thing["pose"]) if "pose" in thing else placement(np.eye(3), np.zeros(3))
        for k, (primitive, pose) in enumerate(zip(thing["primitives"], thing["primitive_poses"])):
            where, size = _pose(pose).after(base), [float(x) for x in primitive["dimensions"]]
            if primitive["type"] == "cylinder":
                size = size[::-1]  # height first there, radius first here
            name = thing["id"] + (f" {k}" if k else "")
            scene.put(name, primitive["type"], tuple(size), placement(np.asarray(where.R), np.ravel(where.p)))
    return scene


def _pose(pose: Any) -> Any:
    quaternion = np.array(pose["orientation"], dtype=float)
    turned = matrix((quaternion / np.linalg.norm(quaternion)).reshape(4, 1))
    return placement(np.asarray(turned), np.array(pose["position"], dtype=float))
