"""Small optimal-control problems for tests, and IPOPT on the same program as their judge."""

import os

import casadi as ca
import numpy as np
import pytest
from trisweep.ocp import Free, Problem
from trisweep.ocp.casadi_backend import assemble


def integrator_chain(steps=20, **settings):
    """x = (position, velocity), u the acceleration; returns the problem and its symbols."""
    ocp = Problem(steps=steps, step=0.1, **settings)
    x, u = ocp.state("x", 2), ocp.control("u")
    ocp.derivative(x=ca.vertcat(x[1], u))
    return ocp, x, u


def rest_to_rest(**settings):
    """From rest at 0 to rest at 1."""
    ocp, x, u = integrator_chain(**settings)
    ocp.minimize(u**2)
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("finish", x, equals=[1, 0], at="end")
    return ocp, x, u


def swing_up(integrator="rk4", free=False, torque=6.0):
    """A pendulum from hanging to standing, with limits on speed and torque."""
    length = {"duration": Free(2.5, 0.5, 6.0)} if free else {"step": 0.05}
    ocp = Problem(steps=60, integrator=integrator, **length)
    angle, speed = ocp.state("angle"), ocp.state("speed", lower=-8, upper=8)
    u = ocp.control("torque", lower=-torque, upper=torque)
    ocp.derivative(angle=speed, speed=-9.81 * ca.sin(angle) + u)
    ocp.minimize(0.01 * u**2 + 0.001 * speed**2)
    if free:
        ocp.minimize(ocp.states[0].symbol, at="end")
    ocp.constrain("hang", ca.vertcat(angle, speed), equals=0, at="start")
    ocp.constrain("stand", ca.vertcat(angle, speed), equals=[np.pi, 0], at="end")
    return ocp


def ipopt(solver, guess=None, **parameters):
    """IPOPT on the same program from the same guess: objective, status, iterations, all stages' (u, x) in a row."""
    if "TRISWEEP_SANITIZED" in os.environ:
        pytest.skip("IPOPT's library cannot be loaded under the sanitizers; the native solve has been run")
    program = assemble(solver.transcription)
    options = {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "tol": 1e-9}}
    nlp = {"x": program.z, "p": program.p, "f": program.f, "g": program.g}
    oracle = ca.nlpsol("oracle", "ipopt", nlp, options)
    low, high, _, _ = solver._bounds
    shared, own = solver._parameters(parameters)
    result = oracle(
        x0=solver._guess(guess),
        p=np.concatenate([shared, own.ravel()]),
        lbx=low,
        ubx=high,
        lbg=program.lower,
        ubg=program.upper,
    )
    statistics = oracle.stats()
    return float(result["f"]), statistics["return_status"], statistics["iter_count"], np.array(result["x"]).ravel()
