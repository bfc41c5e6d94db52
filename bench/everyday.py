"""Single calls from Python, as people make them, beside Pinocchio's bindings in the same run on one core.

    python bench/everyday.py

Inverse, forward and constrained forward dynamics and their first derivatives: microseconds a call, best of interleaved
rounds, with new arrays and with `out=`, and what the first costs above the code itself, which is handed bare addresses
here. Pinocchio's constrained derivatives need the dynamics before them: both are timed. "riccati" is constrained
forward dynamics by Gauss' principle, which takes every configuration. Below are calls that have no counterpart of one
name there: loops, by the default method and a proximal one, forces on links, matrices, poses.
"""

from functools import partial

import numpy as np
import pinocchio as pin
from support.machine import describe
from support.mechanisms import FEET
from support.timing import seconds, with_addresses
from trisweep.dynamics import point, weld
from trisweep.native import level
from trisweep.problems.mechanisms import legs, stewart_platform
from trisweep.problems.robot import robot, robot_file

ROUNDS, REPETITIONS = 100, 60
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
        "inverse dynamics": partial(compiled.inverse_dynamics, q, v, x),
        "forward dynamics": partial(compiled.forward_dynamics, q, v, x),
        "constrained": partial(compiled.forward_dynamics, q, v, x, held),
        "constrained, riccati": partial(compiled.forward_dynamics, q, v, x, held, "riccati"),
        "slopes of inverse": partial(compiled.inverse_dynamics_slopes, q, v, x),
        "slopes of forward": partial(compiled.forward_dynamics_slopes, q, v, x),
        "slopes of constrained": partial(compiled.forward_dynamics_slopes, q, v, x, held),
    }
    theirs = {
        "inverse dynamics": partial(pin.rnea, m, d, q, v, x),
        "forward dynamics": partial(pin.aba, m, d, q, v, x),
        "constrained": partial(twin.constrained, q, v, x),
        "constrained, riccati": partial(twin.constrained, q, v, x),
        "slopes of inverse": partial(pin.computeRNEADerivatives, m, d, q, v, x),
        "slopes of forward": partial(pin.computeABADerivatives, m, d, q, v, x),
        "slopes of constrained": partial(twin.constrained_slopes, q, v, x),
    }
    for what, call in ours.items():
        found, other = flat(call())[0], theirs[what]()
        other = other[0] if isinstance(other, tuple) else other
        apart = abs(found - other).max() / abs(other).max()
        yield what, *with_code(compiled, call, (q, v, x)), theirs[what], apart


def further_cases():
    """(mechanism, what, our call, the same with `out`, the machine code and the way to it)."""
    rng, hyq, held, foot = np.random.default_rng(0), robot("hyq"), HELD["hyq"], FEET["hyq"][0]
    q, push = hyq.random_configuration(rng), rng.standard_normal(6)
    v, x = rng.standard_normal((2, hyq.nv))
    c = hyq.compiled
    for what, call, given in (
        ("forces on a link", partial(c.forward_dynamics, q, v, x, (), None, {foot: push}), (q, v, x, push)),
        ("constrained, prox-ltl", partial(c.forward_dynamics, q, v, x, held, "prox-ltl"), (q, v, x)),
        ("mass matrix", partial(c.mass_matrix, q), (q,)),
        ("its inverse", partial(c.inverse_mass_matrix, q), (q,)),
        ("Delassus matrix", partial(c.delassus, q, held), (q,)),
        ("link pose", partial(c.link_pose, q, foot), (q,)),
        ("link Jacobian", partial(c.link_jacobian, q, foot), (q,)),
    ):
        yield "hyq", what, *with_code(c, call, given)
    for name, mechanism in (("stewart", stewart_platform()), ("legs", legs())):
        model, loops = mechanism.model, mechanism.constraints
        given = mechanism.q, np.zeros(model.nv), rng.standard_normal(model.nv)
        for method in (None, "prox-ltl"):
            call = partial(model.compiled.forward_dynamics, *given, loops, method)
            yield name, f"loops, {method or 'default'}", *with_code(model.compiled, call, given)


def with_code(compiled, call, given):
    """A call, the same with `out`, and the code behind it with bare addresses, for one state and for none."""
    known = len(compiled.proximal)
    into = flat(call())
    code = list(compiled._codes.values())[-1] if compiled._codes else None
    if len(compiled.proximal) > known:
        whole = list(compiled.proximal.values())[-1]
        code, given = whole.codes[whole.first], (*given, whole.at_rest)
    again = partial(call, out=into[0] if len(into) == 1 else into)
    return call, again, *((lambda n=n: with_addresses(code, given, n)) for n in (1, 0))


def flat(found):
    """The arrays of an answer."""
    return [part for each in found for part in flat(each)] if isinstance(found, tuple) else [found]


def main() -> None:
    print(describe("pin", "casadi", "llvmlite"))
    print(f"instruction set: {level}; microseconds a call\n")
    print(f"{'robot':8} {'what':22} {'ours':>7} {'out=':>7} {'above code':>11} {'pin':>7} {'pin/ours':>9} {'apart':>8}")
    for name in HELD:
        for what, *calls, apart in cases(name):
            mine, into, code, empty, pins = least(calls)
            above = mine - (code - empty)
            print(
                f"{name:8} {what:22} {mine:7.2f} {into:7.2f} {above:11.2f} {pins:7.2f} {pins / mine:9.2f} {apart:8.1e}"
            )
    for name, what, *calls in further_cases():
        mine, into, code, empty = least(calls)
        print(f"{name:8} {what:22} {mine:7.2f} {into:7.2f} {mine - (code - empty):11.2f}")


def least(calls):
    """Microseconds of each, the best of rounds in turn; in each round results are elsewhere in memory."""
    call, again, code, way, *pins = calls
    held, rounds = [], []
    for k in range(ROUNDS):
        held.append(np.empty(1 + 70 * k))
        each = (call, again, code(), way(), *pins)
        held.extend(each)
        rounds.append([seconds(one, REPETITIONS)() for one in each])
    return 1e6 * np.min(rounds, axis=0)


if __name__ == "__main__":
    main()
