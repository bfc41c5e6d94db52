"""Times of the compiled dynamics beside Pinocchio and MuJoCo, in one run on one core; then those of all methods (Sathya
2024a Table II) and of the Delassus matrices (Sathya 2024b).

    python bench/dynamics_time.py

Per evaluation, best of interleaved rounds. "core": one state, the machine code called by its address, without Python;
"batch": 4,096 states through `batch`, with Python. Pinocchio and MuJoCo are called from Python, one state a call; what
such a call costs by itself is measured on a one-joint model and stated. Targets are set against Pinocchio 4.1 in C++ on
a 3 GHz-class AVX2 core.
"""

from functools import cache

import casadi as ca
import mujoco
import numpy as np
import pinocchio as pin
from support.machine import describe
from support.mechanisms import FEET, HANDS
from support.rivals.mujoco_twin import mujoco_twin
from support.rivals.pinocchio_overhead import pinocchio_overhead
from support.timing import by_address, seconds, with_addresses
from trisweep.dynamics import point, weld
from trisweep.dynamics.constrained.pv_early import pv_early
from trisweep.dynamics.delassus.choice import DELASSUS
from trisweep.dynamics.forward_problem import ForwardProblem
from trisweep.dynamics.free.aba import aba
from trisweep.dynamics.methods import FORWARD
from trisweep.native import compile_function, level
from trisweep.problems.robot import robot, robot_file

BATCH, ROUNDS = 4096, 12
FLOATING = ("go1", "g1", "talos")

# case: robot, what, constraints, Pinocchio 4.1 in C++ (us), target of the batch, target of the core
CASES = {
    "iiwa14 RNEA": ("iiwa14", "rnea", [], 1.1, 8, 2),
    "iiwa14 ABA": ("iiwa14", "aba", [], 2.4, 8, 2),
    "iiwa14 6D tip": ("iiwa14", "aba", [weld("iiwa_flange", period=None)], 3.6, 8, 2),
    "go1 ABA": ("go1", "aba", [], 4.7, 5, 2),
    "go1 4 feet 3D": ("go1", "aba", [point(foot, period=None) for foot in FEET["go1"]], 7.0, 5, 2),
    "g1 (35 dofs) ABA": ("g1", "aba", [], 11.0, 3, None),
    "g1 2 feet 6D": ("g1", "aba", [weld(foot, period=None) for foot in FEET["g1"]], 13.3, 3, None),
    "talos ABA": ("talos", "aba", [], 18.0, None, None),
    "talos 2F+2H 6D": (
        "talos",
        "aba",
        [weld(x, period=None) for x in FEET["talos"] + HANDS["talos"]],
        24.0,
        None,
        None,
    ),
}

# Sathya 2024a Table II: F feet, H hands, 6D; the columns are core us of one state.
TABLE = {
    "iiwa14 (H)": ("iiwa14", ["iiwa_flange"]),
    "go1 (4F)": ("go1", FEET["go1"]),
    "g1 (2F)": ("g1", FEET["g1"]),
    "talos (F)": ("talos", FEET["talos"][:1]),
    "talos (2F)": ("talos", FEET["talos"]),
    "talos (2F+H)": ("talos", FEET["talos"] + HANDS["talos"][:1]),
    "talos (2F+2H)": ("talos", FEET["talos"] + HANDS["talos"]),
}
METHODS = ("pv", "pv-base", "pv-early", "ltl", "pv-soft", "ltl-soft", "riccati")
OSIM = tuple(DELASSUS)

robot = cache(robot)


def compiled(model, what, constraints):
    """The machine code of accelerations and forces, or of joint forces."""
    q, v, x = (ca.SX.sym(name, size) for name, size in (("q", model.nq), ("v", model.nv), ("x", model.nv)))
    if what == "rnea":
        outputs = [model.inverse_dynamics(q, v, x)]
    elif constraints:
        a, forces = pv_early(ForwardProblem(model, q, v, x, constraints))
        outputs = [a, ca.vertcat(*forces)]
    else:
        outputs = [aba(model, q, v, x)]
    return compile_function(ca.Function("f", [q, v, x], outputs))


def pinocchio_call(name, what, constraints, q, v, x):
    """pin.rnea, pin.aba, or pin.constraintDynamics with mu = 0 and one iteration: exact for independent rows."""
    path = str(robot_file(name))
    model = (
        pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if name in FLOATING else pin.buildModelFromUrdf(path)
    )
    data = model.createData()
    if what == "rnea":
        return lambda: pin.rnea(model, data, q, v, x)
    if not constraints:
        return lambda: pin.aba(model, data, q, v, x)
    contacts = []
    for constraint in constraints:
        frame = model.frames[model.getFrameId(constraint.link)]
        kind = pin.ContactType.CONTACT_3D if constraint.classical else pin.ContactType.CONTACT_6D
        contacts.append(pin.RigidConstraintModel(kind, model, frame.parentJoint, frame.placement, pin.LOCAL))
    datas = [contact.createData() for contact in contacts]
    pin.initConstraintDynamics(model, data, contacts, datas)
    settings = pin.ProximalSettings(0, 0.0, 1)
    return lambda: pin.constraintDynamics(model, data, q, v, x, contacts, datas, settings)


def measures(case):
    """What to time for a case: core, batch, Pinocchio, MuJoCo; each a function that returns seconds an evaluation."""
    name, what, constraints, *_ = CASES[case]
    model, rng = robot(name), np.random.default_rng(0)
    q = np.array([model.random_configuration(rng) for _ in range(BATCH)])
    v, x = rng.standard_normal((2, BATCH, model.nv))
    function = compiled(model, what, constraints)
    batch = seconds(lambda: function.batch(q, v, x), 1)
    one = [np.ascontiguousarray(array[:1]) for array in (q, v, x)]
    found = {
        "core": seconds(by_address(function, one, 1)[0], 1000),
        "call": seconds(by_address(function, one, 0)[0], 1000),
        "batch": lambda: batch() / BATCH,
        "pinocchio": seconds(pinocchio_call(name, what, constraints, q[0], v[0], x[0]), 300),
    }
    if what == "aba":
        source, data = mujoco_twin(model, constraints, q[0], v[0], x[0])
        found["mujoco"] = seconds(lambda: mujoco.mj_forward(source, data), 100)
    return found


def method_code(model, held, method):
    """The machine code of accelerations by a method of forward dynamics."""
    q, v, x = (ca.SX.sym(name, size) for name, size in (("q", model.nq), ("v", model.nv), ("x", model.nv)))
    return compile_function(ca.Function("f", [q, v, x], [FORWARD[method](ForwardProblem(model, q, v, x, held))[0]]))


def osim_code(model, held, method):
    """The machine code of a Delassus matrix; of the operator, one solution."""
    q = ca.SX.sym("q", model.nq)
    found = DELASSUS[method](model, q, held)
    if method == "pv-osim-fast":
        found = found.solve(np.ones((sum(row.size for row in held), 1)))
    return compile_function(ca.Function("f", [q], [ca.densify(found)]))


def table(title, names, code, arguments) -> None:
    """Times of all methods on all robots."""
    print(f"\n{title}; core us, one state")
    print(f"{'robot':16} " + " ".join(f"{name:>13}" for name in names))
    for case, (name, links) in TABLE.items():
        model, rng = robot(name), np.random.default_rng(0)
        held = [(point if name == "go1" else weld)(link, period=None) for link in links]
        state = [model.random_configuration(rng), *rng.standard_normal((2, model.nv))]
        one = [np.ascontiguousarray(array[None]) for array in state[:arguments]]
        measured = {}
        for method in names:
            if method in ("pv-base", "pv-osim-fast") and not model.has_floating_base:
                continue
            if method == "riccati":
                calls = [with_addresses(model.compiled._forward(held, method), one, n) for n in (1, 0)]
            else:
                function = code(model, held, method)
                calls = [by_address(function, one, n)[0] for n in (1, 0)]
            measured[method] = [seconds(call, 300) for call in calls]
        best = {method: [np.inf, np.inf] for method in measured}
        for _ in range(ROUNDS):
            for method, both in measured.items():
                best[method] = [min(known, once()) for known, once in zip(best[method], both)]
        inner = {method: 1e6 * (one - none) for method, (one, none) in best.items()}
        cells = [f"{inner[method]:13.2f}" if method in inner else " " * 13 for method in names]
        print(f"{case:16} " + " ".join(cells), flush=True)


def main() -> None:
    print(describe("pin", "mujoco", "casadi", "llvmlite"))
    overhead = pinocchio_overhead(ROUNDS)
    print(f"instruction set: {level}; a call of pin from Python costs about {1e6 * overhead:.2f} us by itself\n")
    all_measures = {case: measures(case) for case in CASES}
    best = {case: dict.fromkeys(found, np.inf) for case, found in all_measures.items()}
    for _ in range(ROUNDS):
        for case, found in all_measures.items():
            for what, measure in found.items():
                best[case][what] = min(best[case][what], measure())
    print("microseconds an evaluation; x: times faster than pin in this run, less its call; C++: than the known figure")
    names = ("core", "batch", "pin", "mujoco", "batch x", "C++", "core C++")
    print(f"{'case':18} " + " ".join(f"{name:>8}" for name in names) + "  targets")
    for case, (_, _, _, known, batch_target, core_target) in CASES.items():
        t = {what: 1e6 * value for what, value in best[case].items()}
        t["core"] -= t["call"]
        against = (t["pinocchio"] - 1e6 * overhead) / t["batch"]
        batch_x, core_x = known / t["batch"], known / t["core"]
        verdict = [f"batch {batch_target}x {'met' if batch_x >= batch_target else 'MISSED'}"] if batch_target else []
        verdict += [f"core {core_target}x {'met' if core_x >= core_target else 'MISSED'}"] if core_target else []
        rival = f"{t['mujoco']:8.2f}" if "mujoco" in t else " " * 8
        times = f"{t['core']:8.3f} {t['batch']:8.3f} {t['pinocchio']:8.2f} {rival}"
        print(f"{case:18} {times} {against:7.1f}x {batch_x:7.1f}x {core_x:7.1f}x  {', '.join(verdict)}")
    table("Sathya 2024a Table II: accelerations (go1: 3D feet)", METHODS, method_code, 3)
    table("Delassus matrices of the same constraints", OSIM, osim_code, 1)


if __name__ == "__main__":
    main()
