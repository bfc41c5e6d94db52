"""What a call of Pinocchio from Python costs by itself."""

import numpy as np
import pinocchio as pin
from support.timing import seconds


def pinocchio_overhead(rounds: int) -> float:
    """Seconds of pin.rnea on one joint, of which the algorithm is a small part."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "joint")
    model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    data, zero = model.createData(), np.zeros(1)
    measure = seconds(lambda: pin.rnea(model, data, zero, zero, zero), 2000)
    return min(measure() for _ in range(rounds))
