"""Hessians of accelerations and constraint forces, by the recursions over bodies that solves use: against differences
of Pinocchio's analytic first derivatives, and against the symbolic route, on robots with contacts and mechanisms with
loops. In double the latter is off by 5e-9 on a chain of loops (the recursions by 2e-12), so it is asked in long double.
"""

import numpy as np
import pinocchio as pin
import pytest
import trisweep as ts
from support import long_double
from support.loop_oracles import pinocchio_constraint
from support.robot_oracles import ours, relative, states, twin
from trisweep.dynamics import point, weld
from trisweep.ocp.stages import functions
from trisweep.ocp.stages.functions import stage_functions
from trisweep.ocp.stages.recursive_stage import RecursiveStage
from trisweep.ocp.stages.transcription import transcribe
from trisweep.problems.mechanisms import MECHANISMS, chain_of_loops, single_loop
from trisweep.problems.twins.pinocchio_twin import pinocchio_twin

STATES = 50
DIRECTIONS = 2  # at each state, in all of (tau, q, v) at once
STEP = 8e-3
NEAR = (-2e-14, -1e-14, 1e-14, 2e-14)  # steps that change slopes by little more than their rounding
TOLERANCE = 1e-9  # relative, beside what differences leave

ON_THEIR_FEET = {
    "iiwa14": [weld("iiwa_flange", period=None)],
    "panda": [point("panda_hand", period=None)],
    "go1": [point(f"{corner}_foot", period=None) for corner in ("FR", "FL", "RR", "RL")],
    "hyq": [point(f"{corner}_foot", period=None) for corner in ("lf", "rf", "lh", "rh")],
    "g1": [weld(f"{side}_ankle_roll_link", period=None) for side in ("left", "right")],
    "talos": [weld(f"{side}_sole_link", period=None) for side in ("left", "right")],
}
LOOPS = {
    "single loop": lambda: single_loop(9),
    "chain of loops": lambda: chain_of_loops(3),
    "Stewart platform": MECHANISMS["Stewart platform"],
}


class Case:
    """A model, what holds it, the same in Pinocchio, and random states."""

    def __init__(self, name):
        if name in LOOPS:
            mechanism = LOOPS[name]()
            oracle = pinocchio_twin(mechanism)
            self.model, self.held = mechanism.model, list(mechanism.constraints)
            self.other, contacts, self.states = oracle.model, oracle.contacts(), oracle.states(STATES)
        else:
            self.model, self.held, self.other = ours(name), ON_THEIR_FEET[name], twin(name)
            contacts = [pinocchio_constraint(self.other, each) for each in self.held]
            self.states = states(self.model, STATES)
        self.data = self.other.createData()
        self.contacts, self.works = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for contact in contacts:
            self.contacts.append(contact)
            self.works.append(contact.createData())
        pin.initConstraintDynamics(self.other, self.data, self.contacts, self.works)
        random = np.random.default_rng(1)
        self.on_a = random.standard_normal((STATES, self.model.nv))
        self.on_f = 0.01 * random.standard_normal((STATES, sum(each.size for each in self.held)))

    def by(self, stage):
        """Gradients (STATES, n) and Hessians (STATES, n, n), n = 3 nv, by (tau, q, v) of the weighted sum."""
        q, v, tau = self.states
        phase, nv = stage.block.phase, self.model.nv
        coordinates, anchors = phase.states[0].manifold.cut(q)
        weights = np.zeros((STATES, stage.block.rows.numel()))
        weights[:, -self.on_f.shape[1] :] = self.on_f
        on_v = slice(-self.on_f.shape[1] - nv, -self.on_f.shape[1])
        weights[:, on_v] = self.on_a
        inputs = [tau, np.hstack([coordinates, v]), np.zeros((1, 0)), anchors, anchors]
        slopes, lower = stage.functions.derivatives(inputs, weights)
        J, H = np.zeros((STATES, weights.shape[1], 3 * nv)), np.zeros((STATES, 3 * nv, 3 * nv))
        rows, columns = stage.functions.jacobian_places
        J[:, rows, columns] = slopes
        rows, columns = stage.functions.hessian_places
        H[:, rows, columns] = H[:, columns, rows] = lower
        gradient = np.einsum("nr,nrz->nz", weights, J)
        gradient[:, 2 * nv :] -= self.on_a  # the rows are v + a
        return gradient, H

    def slopes(self, n, along, step):
        """Pinocchio's gradient at a state moved along (tau, q, v), as coordinates of the solver."""
        q, v, tau = (part[n] for part in self.states)
        tau_along, q_along, v_along = np.split(step * along, 3)
        moved, turned = self._moved(q, q_along)
        given = self.other, self.data, moved, v + v_along, tau + tau_along
        exact = pin.ProximalSettings(1e-14, 0.0, 1)
        pin.constraintDynamics(*given, self.contacts, self.works, exact)
        pin.computeConstraintDynamicsDerivatives(self.other, self.data, self.contacts, self.works, exact)
        found, on_f = self.data, self._linear_first(self.on_f[n])
        by_tau = found.ddq_dtau.T @ self.on_a[n] + found.dlambda_dtau.T @ on_f
        by_q = found.ddq_dq.T @ self.on_a[n] + found.dlambda_dq.T @ on_f
        by_v = found.ddq_dv.T @ self.on_a[n] + found.dlambda_dv.T @ on_f
        return np.concatenate([by_tau, turned.T @ by_q, by_v])

    def _moved(self, q, d):
        """q, its turns moved in their own frames and positions of a base in the world's, and dv/dd there."""
        away, velocity = d.copy(), np.eye(len(d))
        bases = [joint for joint in self.other.joints if joint.nq == 7]
        for joint in bases:
            place, at = slice(joint.idx_v, joint.idx_v + 3), slice(joint.idx_v + 3, joint.idx_v + 6)
            R = pin.XYZQUATToSE3(q[joint.idx_q : joint.idx_q + 7]).rotation
            away[place] = 0
            velocity[place, place], velocity[at, at] = (R @ pin.exp3(d[at])).T, pin.Jexp3(d[at])
        for joint in self.other.joints:
            if (joint.nq, joint.nv) == (4, 3):
                at = slice(joint.idx_v, joint.idx_v + 3)
                velocity[at, at] = pin.Jexp3(d[at])
        moved = pin.integrate(self.other, q, away)
        for joint in bases:
            moved[joint.idx_q : joint.idx_q + 3] += d[joint.idx_v : joint.idx_v + 3]
        return moved, velocity

    def _linear_first(self, forces):
        parts = np.split(forces, np.cumsum([each.size for each in self.held])[:-1])
        return np.concatenate([np.r_[part[3:], part[:3]] if len(part) == 6 else part for part in parts])


def stated(case):
    """v + a and the forces as rows of a problem's step."""
    ocp = ts.Problem(steps=1, step=1.0, integrator="euler")
    q, v = ocp.state("q", on=case.model), ocp.state("v", case.model.nv)
    tau = ocp.control("tau", case.model.nv)
    a, forces = case.model.forward_dynamics(q, v, tau, case.held)
    ocp.derivative(q=v, v=a)
    ocp.constrain("forces", ts.vertcat(*forces), lower=-1e9)
    return transcribe(ocp)


class Stage:
    """The functions that a solve would call."""

    def __init__(self, case, monkeypatch):
        monkeypatch.setattr(functions, "MANY_UNKNOWNS", 1)
        transcription = stated(case)
        self.block = transcription.blocks[0]
        self.functions = stage_functions(transcription, self.block, "exact")


class SymbolicStage:
    """The same by CasADi's derivatives of the expressions."""

    def __init__(self, case):
        transcription = stated(case)
        self.block, self.functions = transcription.blocks[0], self
        self.code = transcription.functions(self.block, "exact")[1]
        self.jacobian_places, self.hessian_places = (self.code.sparsity_out(i).get_triplet() for i in (0, 1))

    def derivatives(self, inputs, weights):
        return long_double.evaluate(self.code, [*inputs, weights])


def differences(case, n, along):
    """Of the slopes along a direction: three central differences, extrapolated twice; and how far off they are, by
    their last step and by the rounding of slopes, which the extrapolation makes 6.5 / STEP times as large. What a few
    neighbours show of that is taken three times.
    """

    def central(step):
        return (case.slopes(n, along, step) - case.slopes(n, along, -step)) / (2 * step)

    coarse, middle, fine = (central(STEP / share) for share in (1, 2, 4))
    once, again = (4 * middle - coarse) / 3, (4 * fine - middle) / 3
    here = case.slopes(n, along, 0.0)
    rounding = max(np.abs(case.slopes(n, along, step) - here).max() for step in NEAR)
    return (16 * again - once) / 15, np.abs(again - once).max() + 3 * 6.5 * rounding / STEP


@pytest.mark.parametrize("name", [*ON_THEIR_FEET, *LOOPS])
def test_hessians_agree_with_differences_of_pinocchios_slopes(name, monkeypatch):
    case = Case(name)
    stage = Stage(case, monkeypatch)
    assert isinstance(stage.functions, RecursiveStage)
    gradients, hessians = case.by(stage)
    random, sharp = np.random.default_rng(2), 0
    for n in range(STATES):
        slopes = case.slopes(n, np.zeros(3 * case.model.nv), 0.0)
        assert relative(gradients[n], slopes) < 1e-9
        for along in random.standard_normal((DIRECTIONS, 3 * case.model.nv)):
            along /= np.linalg.norm(along)
            expected, left = differences(case, n, along)
            size = np.abs(expected).max()
            assert np.abs(hessians[n] @ along - expected).max() < TOLERANCE * size + left
            sharp += left < 1e-7 * size
    assert sharp > 0.9 * STATES * DIRECTIONS


@pytest.mark.parametrize("name", [*ON_THEIR_FEET, *LOOPS])
def test_hessians_agree_with_the_symbolic_route(name, monkeypatch):
    case = Case(name)
    for found, expected in zip(case.by(Stage(case, monkeypatch)), case.by(SymbolicStage(case))):
        for n in range(STATES):
            assert relative(found[n], expected[n]) < TOLERANCE
