"""Crocoddyl on the crouch of `whole_body.py`, as far as it can be said there: limits but the torques' and the goal are
penalties, the Hessian is Gauss-Newton's. Runs in an environment of its own (crocoddyl 3.2.1, pin 4.0.0):

    python crocoddyl_crouch.py STATEMENT.json    # written by `whole_body.py --rivals`

Prints, for each solver, iterations, ms an iteration, whether it ended by its own test, and the height it missed, m.
"""

import json
import sys
from pathlib import Path
from time import perf_counter

import crocoddyl
import numpy as np
import pinocchio as pin

GOAL, LIMIT, STILL = 1e5, 1e3, 10.0  # weights of the penalties, and of the last velocity
STOP, ITERATIONS = 1e-8, 100


def problem(given: dict) -> tuple[crocoddyl.ShootingProblem, np.ndarray]:
    model = pin.buildModelFromUrdf(given["urdf"], pin.JointModelFreeFlyer())
    state = crocoddyl.StateMultibody(model)
    drive = crocoddyl.ActuationModelFloatingBase(state)
    stand = np.array(given["stand"])
    feet = [model.getFrameId(foot) for foot in given["feet"]]
    data = model.createData()
    pin.framesForwardKinematics(model, data, stand)
    held = crocoddyl.ContactModelMultiple(state, drive.nu)
    for name, foot in zip(given["feet"], feet):
        if given["flat"]:
            contact = crocoddyl.ContactModel6D(
                state, foot, data.oMf[foot], pin.LOCAL, drive.nu, np.array([0.0, given["damping"]])
            )
        else:
            place = data.oMf[foot].translation
            contact = crocoddyl.ContactModel3D(
                state, foot, place, pin.LOCAL, drive.nu, np.array([0.0, given["damping"]])
            )
        held.addContact(name, contact)

    def model_of(last: bool) -> crocoddyl.IntegratedActionModelEuler:
        costs = crocoddyl.CostModelSum(state, drive.nu)

        def add(name: str, residual: object, weight: float, activation: object = None) -> None:
            parts = (state, residual) if activation is None else (state, activation, residual)
            costs.addCost(name, crocoddyl.CostModelResidual(*parts), 2 * weight)

        speeds = crocoddyl.ActivationModelWeightedQuad(np.r_[np.zeros(model.nv), np.ones(model.nv)])
        here = crocoddyl.ResidualModelState(state, np.r_[stand, np.zeros(model.nv)], drive.nu)
        add("v", here, STILL if last else 1e-2, speeds)
        if last:
            aim = np.r_[stand, np.zeros(model.nv)]
            aim[2] -= given["down"]
            height = np.zeros(2 * model.nv)
            height[2] = 1.0
            residual = crocoddyl.ResidualModelState(state, aim, drive.nu)
            add("down", residual, GOAL, crocoddyl.ActivationModelWeightedQuad(height))
        else:
            add("tau", crocoddyl.ResidualModelControl(state, drive.nu), 1e-3)
            add("a", crocoddyl.ResidualModelJointAcceleration(state, drive.nu), 1e-4)
            cone = crocoddyl.FrictionCone(np.eye(3), given["friction"], 4, False)
            bounds = crocoddyl.ActivationBounds(cone.lb, cone.ub)
            for name, foot in zip(given["feet"], feet):
                grip = crocoddyl.ResidualModelContactFrictionCone(state, foot, cone, drive.nu)
                add(f"{name} grips", grip, LIMIT, crocoddyl.ActivationModelQuadraticBarrier(bounds))
        dynamics = crocoddyl.DifferentialActionModelContactFwdDynamics(state, drive, held, costs, 0.0, True)
        made = crocoddyl.IntegratedActionModelEuler(dynamics, 0.0 if last else given["step"])
        limit = np.array(given["effort"])
        made.u_lb, made.u_ub = -limit, limit
        return made

    start = np.r_[stand, np.zeros(model.nv)]
    running = model_of(False)
    return crocoddyl.ShootingProblem(start, [running] * given["steps"], model_of(True)), start


def main() -> None:
    given = json.loads(Path(sys.argv[1]).read_text())
    for kind in (crocoddyl.SolverFDDP, crocoddyl.SolverBoxFDDP):
        best = np.inf
        for _ in range(2):
            posed, start = problem(given)
            solver = kind(posed)
            solver.th_stop = STOP
            xs, us = [start] * (posed.T + 1), [np.array(given["tau"])] * posed.T
            begin = perf_counter()
            done = solver.solve(xs, us, ITERATIONS)
            best = min(best, perf_counter() - begin)
        missed = abs(solver.xs[-1][2] - start[2] + given["down"])
        print(kind.__name__, solver.iter, f"{1e3 * best / max(solver.iter, 1):.3f}", done, f"{missed:.2e}", sep=" | ")


if __name__ == "__main__":
    main()
