"""Bodies, joints and the constraints between them. No cost, no horizon.

    from trisweep.dynamics import load_urdf, weld, point
    arm = load_urdf("arm.urdf")
    a, forces = arm.forward_dynamics(q, v, tau, constraints=[weld("hand")])

`model` is the plain data of a robot, `doors` its methods; each algorithm is a file of its own, a function of numbers
or of CasADi SX symbols. `scalar` alone knows which; `joints` alone knows the kinds of joint.
"""

from .builder import ModelBuilder, random_tree
from .constraint import Constraint, point, weld
from .elimination_order import elimination_order
from .errors import ModelError
from .mjcf import load_mjcf
from .model import Frame, Model, Shape
from .proximal import Proximal, ProximalReport
from .simulate import simulate
from .trajectory import Trajectory
from .urdf import load_urdf

__all__ = [
    "Constraint",
    "Frame",
    "Model",
    "ModelBuilder",
    "ModelError",
    "Proximal",
    "ProximalReport",
    "Shape",
    "Trajectory",
    "elimination_order",
    "load_mjcf",
    "load_urdf",
    "point",
    "random_tree",
    "simulate",
    "weld",
]
