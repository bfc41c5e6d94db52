"""Small optimal-control problems for tests."""

import casadi as ca
import numpy as np
from trisweep.dynamics import ModelBuilder
from trisweep.ocp import Free, Problem


def integrator_chain(steps=20, **settings):
    """x = (position, velocity), u the acceleration; returns the problem and its symbols."""
    ocp = Problem(steps=steps, step=0.1, **settings)
    x, u = ocp.state("x", 2), ocp.control("u")
    ocp.derivative(x=ca.vertcat(x[1], u))
    return ocp, x, u


def to_a_goal():
    """From rest at 0 to a `goal` that is given with a solve."""
    ocp, x, u = integrator_chain()
    goal = ocp.parameter("goal", 2)
    ocp.minimize(u**2)
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("finish", x, equals=goal, at="end")
    return ocp


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
        ocp.minimize(ocp.free_duration.symbol, at="end")
    ocp.constrain("hang", ca.vertcat(angle, speed), equals=0, at="start")
    ocp.constrain("stand", ca.vertcat(angle, speed), equals=[np.pi, 0], at="end")
    return ocp


def swing_up_in_units(angle=1.0, speed=1.0, torque=1.0, rows=1.0, cost=1.0, power=None, limit=6.0, integrator="euler"):
    """The swing-up with variables that are multiples of these units, and rows and cost times these factors.

    power: a factor times an inequality that binds nothing, and whose slope is zero where a guess of zero starts.
    limit: of the torque, in N m.
    """
    ocp = Problem(steps=60, step=0.05, integrator=integrator)
    q = angle * ocp.state("angle")
    v = speed * ocp.state("speed", lower=-8 / speed, upper=8 / speed)
    u = torque * ocp.control("torque", lower=-limit / torque, upper=limit / torque)
    ocp.derivative(angle=v / angle, speed=(-9.81 * ca.sin(q) + u) / speed)
    ocp.minimize(cost * (0.01 * u**2 + 0.001 * v**2))
    ocp.constrain("hang", rows * ca.vertcat(q, v), equals=0, at="start")
    ocp.constrain("stand", rows * ca.vertcat(q, v), equals=[rows * np.pi, 0], at="end")
    if power is not None:
        ocp.constrain("power", power * u * v, upper=30 * power)
    return ocp


def diver():
    """A body that floats in the air, with two arms on ball joints and a wheel that turns without end."""
    body = ModelBuilder("diver")
    inertia = np.diag([0.4, 0.5, 0.1])
    body.add("trunk", joint="floating", mass=4.0, com=(0, 0, 0.1), inertia=inertia)
    for side in (-1, 1):
        name = f"arm{'lr'[side > 0]}"
        position = (0, 0.2 * side, 0.3)
        body.add(name, "trunk", "spherical", position=position, mass=0.8, com=(0, 0, -0.3), inertia=0.02 * np.eye(3))
    body.add("wheel", "trunk", "continuous", axis=(1, 0, 0), position=(0, 0, -0.2), mass=1.0, inertia=0.05 * np.eye(3))
    return body.build()


def dive(model, integrator="semi-implicit euler", steps=12):
    """From a turn in the air to upright with still arms, in 0.6 s."""
    ocp = Problem(steps=steps, step=0.6 / steps, integrator=integrator)
    q, v = ocp.state("q", on=model), ocp.state("v", model.nv)
    tau = ocp.control("tau", model.nv - 6, lower=-20, upper=20)
    ocp.derivative(q=v, v=model.forward_dynamics(q, v, ca.vertcat(np.zeros(6), tau)))
    ocp.minimize(1e-2 * ca.sumsqr(tau) + 1e-2 * ca.sumsqr(v[6:]))
    ocp.constrain("start", q, equals=model.neutral(), at="start")
    ocp.constrain("pushed off", v, equals=np.r_[0.5, 0, 3, 0.2, 3.0, 0.1, np.zeros(7)], at="start")
    R, _ = model.link_pose(q, "trunk")
    ocp.constrain("upright", R[2, 2], lower=0.99, at="end")
    return ocp


def out_of_reach():
    """A place too far for the push that is allowed: infeasible."""
    ocp, x, u = integrator_chain()
    ocp.minimize(u**2)
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("far away", x[0], lower=5, at="end")
    ocp.constrain("weak push", u, lower=-0.1, upper=0.1)
    return ocp


def not_finite(where, what):
    """A term that is not finite: its value where c < 0, its gradient or its curvature where x = 0."""
    ocp = Problem(steps=10, step=0.1)
    x, v, u = ocp.state("x"), ocp.state("v"), ocp.control("u", 2)
    c = ocp.parameter("c", per_stage=True)
    bad = {"value": ca.log(c) * x, "gradient": ca.sqrt(x), "curvature": x**1.5}[what]
    ocp.derivative(x=v, v=u[1] + (bad if where == "dynamics of v" else 0))
    ocp.minimize(ca.sumsqr(u))
    ocp.minimize(v**2 + (bad if where == "the second cost" else 0), name="the second cost")
    ocp.constrain("start", ca.vertcat(x, v), equals=[1, 1], at="start")
    ocp.constrain(
        "corridor", ca.vertcat(v, x + (bad if where == "corridor" else 0)), lower=-9, upper=9, at=slice(7, 10)
    )
    return ocp


def contradiction():
    """Two ends in two places."""
    ocp, x, _ = rest_to_rest()
    ocp.constrain("finish elsewhere", x[0], equals=2, at="end")
    return ocp


def limited_pendulum(torque_limit=12.0, speed_limit=4.0, steps=20):
    """A swing-up with limits of variables, an inequality on the steps, a constraint with an equal and a loose row."""
    ocp = Problem(steps=steps, step=0.1)
    angle, rate = ocp.state("angle"), ocp.state("rate", lower=-speed_limit, upper=speed_limit)
    torque = ocp.control("torque", lower=-torque_limit, upper=torque_limit)
    begin = ocp.parameter("begin", 2)
    ocp.derivative(angle=rate, rate=torque - 9.81 * ca.sin(angle))
    ocp.minimize(1e-2 * torque**2 + 1e-3 * rate**2)
    ocp.minimize(rate**2, at="end", name="slow at the end")
    ocp.constrain("start", ca.vertcat(angle, rate), equals=begin, at="start")
    ocp.constrain("power", torque * rate, upper=15)
    ocp.constrain("finish", ca.vertcat(rate, angle), lower=[-0.5, np.pi], upper=[0.5, np.pi], at="end")
    return ocp


def gimbal():
    """A body on a ball joint with a wheel that turns without end."""
    body = ModelBuilder("gimbal")
    body.add("body", joint="spherical", mass=1.0, com=(0, 0, 0.05), inertia=np.diag([0.05, 0.06, 0.04]))
    body.add("wheel", "body", "continuous", axis=(1, 0, 0), mass=0.2, inertia=0.01 * np.eye(3))
    return body.build()


def gimbal_problem(steps):
    """Its problem without a cost, measured: the robot, the problem, q, v, tau."""
    model = gimbal()
    ocp = Problem(steps=steps, step=0.04, integrator="semi-implicit euler")
    q, v = ocp.state("q", on=model), ocp.state("v", model.nv)
    tau = ocp.control("tau", model.nv, lower=-2.0, upper=2.0)
    ocp.derivative(q=v, v=model.forward_dynamics(q, v, tau))
    ocp.start("q", "v")
    return model, ocp, q, v, tau
