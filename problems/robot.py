"""Ready robots: our own, and those of the package example-robot-data where it is installed (used in place, never
copied).
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from ..dynamics import Model, ModelError, load_urdf
from ..errors import said
from ..whole_file import path_of

OURS = {"iiwa14": Path(__file__).parent / "robots" / "iiwa14.urdf"}

# name: end of the file's path in example-robot-data, and whether the base floats
EXAMPLES = {
    "a1": ("a1_description/urdf/a1.urdf", True),
    "allegro": ("allegro_hand_description/urdf/allegro_right_hand.urdf", False),
    "allegro_left": ("allegro_hand_description/urdf/allegro_left_hand.urdf", False),
    "anymal": ("anymal_c_simple_description/urdf/anymal.urdf", True),
    "b1": ("b1_description/urdf/b1.urdf", True),
    "double_pendulum": ("double_pendulum_description/urdf/double_pendulum_simple.urdf", False),
    "g1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", True),
    "go1": ("go1_description/urdf/go1.urdf", True),
    "go2": ("go2_description/urdf/go2.urdf", True),
    "hyq": ("hyq_description/robots/hyq_no_sensors.urdf", True),
    "icub": ("icub_description/robots/icub_reduced.urdf", True),
    "kinova": ("kinova_description/robots/kinova.urdf", False),
    "panda": ("panda_description/urdf/panda.urdf", False),
    "romeo": ("romeo_description/urdf/romeo_small.urdf", True),
    "simple_humanoid": ("simple_humanoid_description/urdf/simple_humanoid.urdf", True),
    "solo12": ("solo_description/robots/solo12.urdf", True),
    "talos": ("talos_data/robots/talos_full_v2.urdf", True),
    "talos_reduced": ("talos_data/robots/talos_reduced.urdf", True),
    "tiago": ("tiago_description/robots/tiago.urdf", False),
    "ur3": ("ur_description/urdf/ur3_robot.urdf", False),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", False),
    "ur10": ("ur_description/urdf/ur10_robot.urdf", False),
    "xarm7": ("xarm_description/urdf/xarm7.urdf", False),
    "z1": ("z1_description/urdf/z1.urdf", False),
}


def robot(name: str, floating_base: bool | None = None) -> Model:
    """The ready robot of that name; `floating_base=None` leaves the base as the robot usually has it.

    Joints that mimic others (grippers of "panda" and "talos") are read as joints of their own.
    """
    if not isinstance(name, str):
        raise ModelError(f"robot: name is {said(name)}, expected a text")
    if name in OURS:
        return load_urdf(OURS[name], floating_base=bool(floating_base))
    files = example_files()
    if name not in files:
        there = ", ".join(sorted({*OURS, *files}))
        more = "" if files else "; `pip install example-robot-data` brings more"
        raise ModelError(f"there is no robot '{name}', expected one of {there}{more}")
    floats = EXAMPLES[name][1] if floating_base is None else floating_base
    return load_urdf(files[name], floating_base=floats, mimic="free")


def robot_file(name: str) -> Path:
    """The file of a ready robot."""
    return OURS[name] if name in OURS else example_files()[name]


def example_files() -> dict[str, Path]:
    """The files of example-robot-data's robots, by name; empty where the package is not installed."""
    try:
        installed = metadata.files("example-robot-data") or ()
    except metadata.PackageNotFoundError:
        return {}
    urdfs = {str(file): file for file in installed if str(file).endswith(".urdf")}
    ends = {name: [file for path, file in urdfs.items() if path.endswith(end)] for name, (end, _) in EXAMPLES.items()}
    return {name: Path(found[0].locate()) for name, found in ends.items() if found}


def load(path: str | Path, floating_base: bool = False) -> Model:
    """The model of a URDF (.urdf) or MJCF (.xml, .mjcf) file."""
    path = path_of(path, "load", ModelError)
    kind = path.suffix.lower()
    if kind == ".urdf":
        return load_urdf(path, floating_base=floating_base)
    if kind not in (".xml", ".mjcf"):
        raise ModelError(f"'{path}' ends in '{kind}', expected .urdf, .xml or .mjcf")
    if floating_base:
        raise ModelError(f"'{path}' is MJCF, which states its own base, expected floating_base=False")
    from ..dynamics import load_mjcf  # late: few robots come as MJCF

    return load_mjcf(path)
