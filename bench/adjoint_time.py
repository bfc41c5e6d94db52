"""Time of the fused exact Hessian and Jacobian of the iiwa's Euler step, a stage, for a horizon of 50 stages.

    python bench/adjoint_time.py

Beside it: the same function by CasADi's automatic differentiation through the same compiler, and Pinocchio's analytic
first derivatives of the accelerations alone, called from Python (about 0.7 us a call is Python's; with constraints
the dynamics come before their derivatives, both are timed). Compiled code is called by its address, as by the interior
point. Best of interleaved rounds, one core.
"""

import time

import numpy as np
import pinocchio as pin
from support.iiwa_step import SETTINGS, IiwaStep
from support.machine import describe
from support.timing import by_address
from trisweep.native import compile_function
from trisweep.problems.robot import robot_file

STAGES = 50
ROUNDS = 400
TARGETS = {"unconstrained": 1.6, "constrained": 2.5}


def compiled(function):
    """A horizon of stages through the compiler, its memory laid out once."""
    code = compile_function(function)
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal((STAGES, size)) for size in code.sizes.inputs]
    return by_address(code, inputs, STAGES)[0]


def pinocchio(setting: str):
    """A horizon of first derivatives by Pinocchio."""
    model = pin.buildModelFromUrdf(str(robot_file("iiwa14")))
    data, rng = model.createData(), np.random.default_rng(0)
    states = [[rng.standard_normal(7) for _ in range(3)] for _ in range(STAGES)]
    if setting == "unconstrained":
        return lambda: [pin.computeABADerivatives(model, data, *state) for state in states]
    frame = model.frames[model.getFrameId("iiwa_flange")]
    contacts, works = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    contacts.append(
        pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, model, frame.parentJoint, frame.placement, pin.LOCAL)
    )
    works.append(contacts[0].createData())
    pin.initConstraintDynamics(model, data, contacts, works)
    once = pin.ProximalSettings(0.0, 0.0, 1)

    def horizon():
        for state in states:
            pin.constraintDynamics(model, data, *state, contacts, works, once)
            pin.computeConstraintDynamicsDerivatives(model, data, contacts, works, once)

    return horizon


def best_times(runs: dict) -> dict[str, float]:
    """Microseconds a stage."""
    best = dict.fromkeys(runs, np.inf)
    for _ in range(ROUNDS):
        for name, run in runs.items():
            begin = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - begin)
    return {name: 1e6 * seconds / STAGES for name, seconds in best.items()}


def main():
    print(describe("casadi", "llvmlite", "pin"))
    for setting in SETTINGS:
        step = IiwaStep(setting)
        functions = {"adjoint method": step.by_adjoint(), "CasADi": step.by_casadi()}
        runs = {f"{name}: Hessian + Jacobian": compiled(function) for name, function in functions.items()}
        times = best_times(runs | {"Pinocchio: first derivatives": pinocchio(setting)})
        print(f"{setting} (target {TARGETS[setting]} us)")
        ours = next(iter(times.values()))
        for name, value in times.items():
            print(f"  {name:38} {value:7.2f} us a stage {value / ours:6.2f}x")


if __name__ == "__main__":
    main()
