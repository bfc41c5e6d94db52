"""Bodies, joints and the constraints between them. No cost, no horizon.

    from trisweep.dynamics import load_urdf, weld, point
    arm = load_urdf("arm.urdf")
    a, forces = arm.forward_dynamics(q, v, tau, constraints=[weld("hand")])

`model` is the plain data of a robot and its methods; each algorithm is a file of its own, a function of numbers
or of CasADi SX symbols. `arrays` alone knows which; `joints` alone knows the kinds of joint. Shapes and simulation are
imported when first asked for.
"""

from typing import TYPE_CHECKING

from ..errors import ModelError
from ..late import fetched_late
from .constraints.constraint import Constraint, point, weld
from .files.builder import ModelBuilder
from .files.urdf import load_urdf
from .free.passive import CarriedWeight, PassiveJoint, Point, Stretch, Tendon
from .kinematic_tree import Frame, Shape
from .model import Model
from .proximal.settings import Proximal, ProximalReport

if TYPE_CHECKING:
    from .files.mjcf import load_mjcf
    from .files.random_tree import random_tree
    from .proximal.elimination_order import elimination_order
    from .shapes.clearance import Pair, distances, pairs
    from .shapes.cloud import Cloud
    from .shapes.scene import Scene
    from .simulation.events import Event
    from .simulation.simulate import simulate
    from .simulation.trajectory import Trajectory

__all__ = [
    "CarriedWeight",
    "Cloud",
    "Constraint",
    "Event",
    "Frame",
    "Model",
    "ModelBuilder",
    "ModelError",
    "Pair",
    "PassiveJoint",
    "Point",
    "Proximal",
    "ProximalReport",
    "Scene",
    "Shape",
    "Stretch",
    "Tendon",
    "Trajectory",
    "distances",
    "elimination_order",
    "load_mjcf",
    "load_urdf",
    "pairs",
    "point",
    "random_tree",
    "simulate",
    "weld",
]

_HOMES = {
    ".files.mjcf": ("load_mjcf",),
    ".files.random_tree": ("random_tree",),
    ".proximal.elimination_order": ("elimination_order",),
    ".shapes.clearance": ("Pair", "distances", "pairs"),
    ".shapes.cloud": ("Cloud",),
    ".shapes.scene": ("Scene",),
    ".simulation.events": ("Event",),
    ".simulation.simulate": ("simulate",),
    ".simulation.trajectory": ("Trajectory",),
}
__getattr__ = fetched_late(__name__, _HOMES)
