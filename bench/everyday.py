"""Single calls from Python, as people make them, beside Pinocchio's bindings in the same run on one core.

    python bench/everyday.py

Inverse, forward and constrained forward dynamics and their first derivatives: microseconds a call, best of interleaved
rounds, with new arrays and with `out=`, and what the first costs above the code itself, which is handed bare addresses
here. Pinocchio's constrained derivatives need the dynamics before them: both are timed. "riccati" is constrained
forward dynamics by Gauss' principle, which takes every configuration.
"""

from functools import partial

import numpy as np
import pinocchio as pin
from support.machine import describe
from support.mechanisms import FEET
from support.timing import seconds, with_addresses
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
        "inverse dynamics": lambda out=None: compiled.inverse_dynamics(q, v, x, out=out),
        "forward dynamics": lambda out=None: compiled.forward_dynamics(q, v, x, out=out),
        "constrained": lambda out=None: compiled.forward_dynamics(q, v, x, held, out=out),
        "constrained, riccati": lambda out=None: compiled.forward_dynamics(q, v, x, held, "riccati", out=out),
        "slopes of inverse": lambda out=None: compiled.inverse_dynamics_slopes(q, v, x, out=out),
        "slopes of forward": lambda out=None: compiled.forward_dynamics_slopes(q, v, x, out=out),
        "slopes of constrained": lambda out=None: compiled.forward_dynamics_slopes(q, v, x, held, out=out),
    }
    theirs = {
        "inverse dynamics": lambda: pin.rnea(m, d, q, v, x),
        "forward dynamics": lambda: pin.aba(m, d, q, v, x),
        "constrained": lambda: twin.constrained(q, v, x),
        "constrained, riccati": lambda: twin.constrained(q, v, x),
        "slopes of inverse": lambda: pin.computeRNEADerivatives(m, d, q, v, x),
        "slopes of forward": lambda: pin.computeABADerivatives(m, d, q, v, x),
        "slopes of constrained": lambda: twin.constrained_slopes(q, v, x),
    }
    for what, call in ours.items():
        found, other = call(), theirs[what]()
        code = list(compiled._codes.values())[-1]
        parts = flat(found)
        into = [np.empty_like(part) for part in parts]
        again = partial(call, into[0] if len(into) == 1 else into)
        other = other[0] if isinstance(other, tuple) else other
        apart = abs(parts[0] - other).max() / abs(other).max()
        bare = [with_addresses(code, (q, v, x), count) for count in (1, 0)]
        yield what, call, again, theirs[what], *bare, apart


def flat(found):
    """The arrays of an answer."""
    return [part for each in found for part in flat(each)] if isinstance(found, tuple) else [found]


def main() -> None:
    print(describe("pin", "casadi", "llvmlite"))
    print(f"instruction set: {level}; microseconds a call\n")
    print(f"{'robot':8} {'what':22} {'ours':>7} {'out=':>7} {'pin':>7} {'pin/ours':>9} {'above code':>11} {'apart':>8}")
    for name in HELD:
        for what, *calls, apart in cases(name):
            measures = [seconds(call, REPETITIONS) for call in calls]
            best = np.full(len(calls), np.inf)
            for _ in range(ROUNDS):
                best = np.minimum(best, [measure() for measure in measures])
            mine, into, pins, code, empty = 1e6 * best
            above = mine - (code - empty)
            print(
                f"{name:8} {what:22} {mine:7.2f} {into:7.2f} {pins:7.2f} {pins / mine:9.2f} {above:11.2f} {apart:8.1e}"
            )


if __name__ == "__main__":
    main()
