"""Single calls from Python, as people make them, beside Pinocchio's bindings in the same run on one core.

    python bench/everyday.py

Inverse, forward and constrained forward dynamics and their first derivatives: microseconds a call, best of interleaved
rounds, and what a call costs above the machine code itself, which is called by its address here. Pinocchio's
constrained derivatives need the dynamics before them: both are timed.
"""

import numpy as np
import pinocchio as pin
from support.machine import describe
from support.mechanisms import FEET
from support.timing import by_address, seconds
from trisweep.dynamics import point, weld
from trisweep.native import level
from trisweep.problems.robot import robot, robot_file

ROUNDS, REPETITIONS = 15, 300
HELD = {
    "iiwa14": [weld("iiwa_flange", period=None)],
    "hyq": [point(foot, period=None) for foot in FEET["hyq"]],
    "talos": [weld(foot, period=None) for foot in FEET["talos"]],
}
FLOATING = ("hyq", "talos")


class Twin:
    """Pinocchio's model, and its contacts."""

    def __init__(self, name, constraints):
        path = str(robot_file(name))
        root = (pin.JointModelFreeFlyer(),) if name in FLOATING else ()
        self.model = pin.buildModelFromUrdf(path, *root)
        self.data = self.model.createData()
        self.contacts, self.works = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for constraint in constraints:
            frame = self.model.frames[self.model.getFrameId(constraint.link)]
            kind = pin.ContactType.CONTACT_3D if constraint.classical else pin.ContactType.CONTACT_6D
            self.contacts.append(
                pin.RigidConstraintModel(kind, self.model, frame.parentJoint, frame.placement, pin.LOCAL)
            )
            self.works.append(self.contacts[len(self.contacts) - 1].createData())
        pin.initConstraintDynamics(self.model, self.data, self.contacts, self.works)
        self.once = pin.ProximalSettings(0.0, 0.0, 1)

    def constrained(self, q, v, tau):
        pin.constraintDynamics(self.model, self.data, q, v, tau, self.contacts, self.works, self.once)
        return self.data.ddq

    def constrained_slopes(self, q, v, tau):
        self.constrained(q, v, tau)
        pin.computeConstraintDynamicsDerivatives(self.model, self.data, self.contacts, self.works, self.once)
        return self.data.ddq_dq


def cases(name):
    """what: (our call, Pinocchio's, the machine code), and how far the two answers are apart."""
    model, held = robot(name), HELD[name]
    twin, rng = Twin(name, held), np.random.default_rng(0)
    q = model.random_configuration(rng)
    v, x = rng.standard_normal((2, model.nv))
    compiled, m, d = model.compiled, twin.model, twin.data
    ours = {
        "inverse dynamics": lambda: compiled.inverse_dynamics(q, v, x),
        "forward dynamics": lambda: compiled.forward_dynamics(q, v, x),
        "constrained": lambda: compiled.forward_dynamics(q, v, x, held),
        "slopes of inverse": lambda: compiled.inverse_dynamics_slopes(q, v, x),
        "slopes of forward": lambda: compiled.forward_dynamics_slopes(q, v, x),
        "slopes of constrained": lambda: compiled.forward_dynamics_slopes(q, v, x, held),
    }
    theirs = {
        "inverse dynamics": lambda: pin.rnea(m, d, q, v, x),
        "forward dynamics": lambda: pin.aba(m, d, q, v, x),
        "constrained": lambda: twin.constrained(q, v, x),
        "slopes of inverse": lambda: pin.computeRNEADerivatives(m, d, q, v, x),
        "slopes of forward": lambda: pin.computeABADerivatives(m, d, q, v, x),
        "slopes of constrained": lambda: twin.constrained_slopes(q, v, x),
    }
    for what, call in ours.items():
        found = call()
        code = list(compiled._codes.values())[-1] if what != "constrained" else compiled._forward(held, None, None)
        inner = by_address(code.function, [q.reshape(1, -1), v.reshape(1, -1), x.reshape(1, -1)], 1)[0]
        nothing = by_address(code.function, [q.reshape(1, -1), v.reshape(1, -1), x.reshape(1, -1)], 0)[0]
        first, other = found, theirs[what]()
        while isinstance(first, tuple):
            first = first[0]
        other = other[0] if isinstance(other, tuple) else other
        apart = abs(first - other).max() / abs(other).max()
        yield what, call, theirs[what], inner, nothing, apart


def main() -> None:
    print(describe("pin", "casadi", "llvmlite"))
    print(f"instruction set: {level}; microseconds a call\n")
    print(f"{'robot':8} {'what':24} {'ours':>8} {'pin':>8} {'pin/ours':>9} {'above the code':>15} {'apart':>9}")
    for name in HELD:
        for what, ours, theirs, inner, nothing, apart in cases(name):
            measures = [seconds(call, REPETITIONS) for call in (ours, theirs, inner, nothing)]
            best = np.full(4, np.inf)
            for _ in range(ROUNDS):
                best = np.minimum(best, [measure() for measure in measures])
            mine, pins, code, empty = 1e6 * best
            above = mine - (code - empty)
            print(f"{name:8} {what:24} {mine:8.2f} {pins:8.2f} {pins / mine:9.2f} {above:15.2f} {apart:9.1e}")


if __name__ == "__main__":
    main()
