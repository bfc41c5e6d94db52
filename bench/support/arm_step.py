"""A seven-joint arm for the benches of the compiler: one explicit Euler step, its Jacobian and its Hessian.

The acceleration a is the implicit node g(z, a) = 0 of inverse dynamics (Featherstone 2008, table 5.1, in three
dimensions), z = (tau, q, v), so only inverse dynamics is differentiated: da/dz = -M^-1 dg/dz, and with
w = -M^-1 lambda the curvature of lambda' a(z) is T' [d2(w' g) / d(z, a)2] T, T = [I; da/dz].
"""

import casadi as ca
import numpy as np

GRAVITY = 9.81


def links(joints: int):
    """Rotation and offset from the parent, mass, centre and inertia of each link; joints turn about z."""
    random = np.random.default_rng(0)
    for i in range(joints):
        turn = 1.0 if i % 2 else -1.0
        rotation = np.array([[1, 0, 0], [0, 0, turn], [0, -turn, 0]]) if i else np.eye(3)
        offset = np.array([0, 0.2 * (i % 2), 0.2 * (1 - i % 2)])
        root = random.normal(size=(3, 3))
        inertia = 0.01 * root @ root.T + 0.02 * np.eye(3)
        yield rotation, offset, 4 - 0.4 * i, 0.05 * random.normal(size=3), inertia


def inverse_dynamics(q: ca.SX, v: ca.SX, a: ca.SX) -> ca.SX:
    """Joint torques (n,) by the recursive Newton-Euler algorithm."""
    axis = np.array([0, 0, 1.0])
    w, dw, dp = ca.SX.zeros(3), ca.SX.zeros(3), ca.SX([0, 0, GRAVITY])
    forces = []
    for i, (rotation, p, m, c, inertia) in enumerate(links(q.numel())):
        cos, sin = ca.cos(q[i]), ca.sin(q[i])
        E = ca.vertcat(ca.horzcat(cos, sin, 0), ca.horzcat(-sin, cos, 0), ca.horzcat(0, 0, 1)) @ rotation
        dp = E @ (dp + ca.cross(dw, p) + ca.cross(w, ca.cross(w, p)))
        w_parent = E @ w
        dw = E @ dw + axis * a[i] + ca.cross(w_parent, axis * v[i])
        w = w_parent + axis * v[i]
        f = m * (dp + ca.cross(dw, c) + ca.cross(w, ca.cross(w, c)))
        n = inertia @ dw + ca.cross(w, inertia @ w) + ca.cross(c, f)
        forces.append((E, p, f, n))
    tau = []
    f = n = ca.SX.zeros(3)
    for E, p, link_f, link_n in reversed(forces):
        f, n = f + link_f, n + link_n
        tau.append(n[2])
        f = E.T @ f
        n = E.T @ n + ca.cross(p, f)
    return ca.vertcat(*reversed(tau))


def solve(M: ca.SX, B: ca.SX) -> ca.SX:
    """M^-1 B by L D L'."""
    n = M.shape[0]
    L, d, X = ca.SX(n, n), [], ca.SX(B)
    for j in range(n):
        d.append(M[j, j] - sum(L[j, k] ** 2 * d[k] for k in range(j)))
        for i in range(j + 1, n):
            L[i, j] = (M[i, j] - sum(L[i, k] * L[j, k] * d[k] for k in range(j))) / d[j]
    for i in range(n):
        for k in range(i):
            X[i, :] -= L[i, k] * X[k, :]
    for i in range(n):
        X[i, :] /= d[i]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            X[i, :] -= L[k, i] * X[k, :]
    return X


def euler_step(joints: int = 7) -> ca.Function:
    """(tau q v, multipliers, step) -> next state, nonzeros of its Jacobian, of the upper half of its Hessian."""
    q, v, tau, a, mu = (ca.SX.sym(name, joints) for name in ("q", "v", "tau", "a", "mu"))
    h, multipliers = ca.SX.sym("h"), ca.SX.sym("multipliers", 2 * joints)
    z = ca.vertcat(tau, q, v)
    g = inverse_dynamics(q, v, a) - tau
    M = ca.jacobian(g, a)
    curvature, _ = ca.hessian(ca.dot(mu, g), ca.vertcat(z, a))
    rest = ca.substitute(g, a, ca.SX.zeros(joints))
    solved = solve(M, ca.horzcat(-rest, multipliers[joints:]))
    acceleration, w = solved[:, 0], -h * solved[:, 1]
    slope = -solve(M, ca.jacobian(g, z))
    T = ca.vertcat(ca.SX.eye(3 * joints), slope)
    none, one = ca.SX(joints, joints), ca.SX.eye(joints)
    jacobian = ca.vertcat(ca.horzcat(none, one, h * one), ca.horzcat(ca.SX(joints, 2 * joints), one) + h * slope)
    results = [ca.vertcat(q + h * v, v + h * a), jacobian, ca.triu(T.T @ curvature @ T)]
    results = ca.substitute([ca.vertcat(*r.nonzeros()) for r in results], [mu], [w])
    results = ca.substitute(results, [a], [acceleration])
    return ca.Function("arm", [z, multipliers, h], ca.cse(results))


def rollout(steps: int, joints: int = 7) -> ca.Function:
    """Several steps, each from where the one before ended, with the derivatives of all: a long function."""
    step = euler_step(joints)
    controls = ca.SX.sym("tau", joints, steps)
    state, multipliers, h = ca.SX.sym("x", 2 * joints), ca.SX.sym("multipliers", 2 * joints), ca.SX.sym("h")
    start, results = state, []
    for k in range(steps):
        state, *derivatives = step(ca.vertcat(controls[:, k], state), multipliers, h)
        results += derivatives
    return ca.Function("rollout", [controls, start, multipliers, h], [state, ca.vertcat(*results)])
