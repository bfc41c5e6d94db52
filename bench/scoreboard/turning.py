"""Random problems of turning bodies, and the same by rotation matrices and single shooting, solved on by IPOPT.

    states: q on a ball joint or a joint without end, w; control a;   q_{k+1} = q_k (+) h w_k,   w_{k+1} = w_k + h a_k
    minimise  sum r |a|^2 + p |R(q_k) c - d|^2 + s |w|^2,  [|a| <= limit],  [w_N = 0],  [what R(q_N) c is across d = 0]

The twin knows nothing of quaternions, anchors or multipliers: R_{k+1} = R_k exp(h w_k) by Rodrigues' formula, and a are
its only variables. An answer is false where the twin is elsewhere at the same a, where its rows do not hold, or where
IPOPT, started from a, ends at a lower objective than the tolerance leaves open.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import trisweep as ts
from trisweep.dynamics import ModelBuilder

STEPS = 6
NAMES = {"r": 1, "p": 1, "s": 1, "h": 1, "limit": 1, "c": 3, "d": 3, "across": 6, "w0": 3}
OPTIONS = {"tol": 1e-11, "print_level": 0, "sb": "yes", "max_iter": 200, "mu_init": 1e-10,
           "bound_relax_factor": 0.0, "warm_start_init_point": "yes", "warm_start_bound_push": 1e-12,
           "warm_start_bound_frac": 1e-12}  # fmt: skip


class Form(NamedTuple):
    """ball: a ball joint, else a joint without end about z. Which of the rows in brackets there are."""

    ball: bool
    limit: bool
    rest: bool
    goal: bool


class Drawn(NamedTuple):
    form: Form
    values: dict[str, Any]
    guess: np.ndarray  # of a


class Turned(NamedTuple):
    """elsewhere: the twin's last attitude beside the answer's; violated: its worst row; lower: by how much of the
    objective's terms IPOPT's end is below, None where it did not end.
    """

    elsewhere: float
    violated: float
    lower: float | None


def draw(seed: int) -> Drawn:
    rng = np.random.default_rng(seed)
    form = Form(*(bool(seed >> i & 1) for i in range(4)))
    size = lambda low, high: float(10.0 ** rng.uniform(low, high))  # noqa: E731
    unit = lambda v: v / np.linalg.norm(v)  # noqa: E731
    flat = np.array([1.0, 1.0, 1.0 if form.ball else 0.0])
    c, d = (unit(flat * rng.normal(size=3)) for _ in range(2))
    first = unit(np.cross(d, [0, 0, 1.0] if not form.ball else rng.normal(size=3)))
    across = np.concatenate([first, np.cross(d, first)])
    sizes = {"r": (-4, 2), "p": (-4, 2), "s": (-4, 1), "h": (-1, 0), "limit": (-1, 1)}
    values: dict[str, Any] = {name: size(*decades) for name, decades in sizes.items()}
    values |= {"c": c, "d": d, "across": across, "w0": rng.normal(size=3)[: 3 if form.ball else 1] * size(-1, 0.5)}
    if form.rest:  # which the limit is to allow
        values["limit"] += np.abs(values["w0"]).max() / (STEPS * values["h"])
    return Drawn(form, values, rng.normal(size=(STEPS, 3 if form.ball else 1)))


@cache
def _solver(form: Form) -> ts.Solver:
    body = ModelBuilder("body")
    joint = {"joint": "spherical"} if form.ball else {"joint": "continuous", "axis": (0, 0, 1)}
    body.add("body", **joint, mass=1.0, inertia=np.eye(3))
    model = body.build()
    ocp = ts.Problem(steps=STEPS, step=1.0, integrator="euler")
    given = {name: ocp.parameter(name, n if form.ball or name != "w0" else 1) for name, n in NAMES.items()}
    q, w = ocp.state("q", on=model), ocp.state("w", model.nv)
    limit = given["limit"]
    a = ocp.control("a", model.nv, lower=-limit, upper=limit) if form.limit else ocp.control("a", model.nv)
    h = given["h"]
    ocp.derivative(q=h * w, w=h * a)
    R, _ = model.link_pose(q, "body")
    off = R @ given["c"] - given["d"]
    ocp.minimize(given["r"] * ca.sumsqr(a) + given["p"] * ca.sumsqr(off) + given["s"] * ca.sumsqr(w))
    ocp.minimize(given["p"] * ca.sumsqr(off) + given["s"] * ca.sumsqr(w), at="end", name="end")
    ocp.constrain("start", q, equals=model.neutral(), at="start")
    ocp.constrain("start speed", w - given["w0"], equals=0, at="start")
    if form.rest:
        ocp.constrain("rest", w, equals=0, at="end")
    if form.goal:
        rows = _across(R, given, form)
        ocp.constrain("goal", rows, equals=0, at="end")
    return ocp.build()


def _across(R: Any, given: dict[str, Any], form: Form) -> Any:
    pointing = R @ given["c"]
    rows = [ca.dot(given["across"][:3], pointing)]
    return ca.vertcat(*rows, *([ca.dot(given["across"][3:], pointing)] if form.ball else []))


def solve(drawn: Drawn) -> ts.Solution:
    return _solver(drawn.form).solve({"a": drawn.guess}, **drawn.values)


def _exp(v: ca.SX) -> ca.SX:
    """Rodrigues' formula; by its series where the angle is small."""
    square = ca.sumsqr(v)
    angle = ca.sqrt(square + 1e-300)
    small = square < 1e-6
    first = ca.if_else(small, 1 - square / 6 + square**2 / 120, ca.sin(angle) / angle)
    second = ca.if_else(small, 0.5 - square / 24 + square**2 / 720, (1 - ca.cos(angle)) / (square + 1e-300))
    S = ca.skew(v)
    return ca.SX.eye(3) + first * S + second * S @ S


@cache
def _twin(form: Form) -> tuple[ca.Function, Any]:
    """Of a and the values: objective, terms, rows, the last attitude; and IPOPT on it."""
    nv = 3 if form.ball else 1
    given = {name: ca.SX.sym(name, n if form.ball or name != "w0" else 1) for name, n in NAMES.items()}
    a = ca.SX.sym("a", nv, STEPS)
    R, w, terms = ca.SX.eye(3), given["w0"], []
    for k in range(STEPS + 1):
        terms += [given["p"] * ca.sumsqr(R @ given["c"] - given["d"]), given["s"] * ca.sumsqr(w)]
        if k < STEPS:
            terms.append(given["r"] * ca.sumsqr(a[:, k]))
            v = w if form.ball else ca.vertcat(0, 0, w)
            R, w = R @ _exp(given["h"] * v), w + given["h"] * a[:, k]
    rows = ca.vertcat(*([w] if form.rest else []), *([_across(R, given, form)] if form.goal else []))
    p = ca.vertcat(*given.values())
    f = sum(terms)
    look = ca.Function("look", [a, p], [f, rows, R])
    nlp = {"x": ca.vec(a), "p": p, "f": f, "g": rows}
    return look, ca.nlpsol("on", "ipopt", nlp, {"print_time": False, "error_on_fail": False, "ipopt": OPTIONS})


def confirm(drawn: Drawn, solution: ts.Solution) -> Turned:
    look, ipopt = _twin(drawn.form)
    p = np.concatenate([np.ravel(drawn.values[name]) for name in NAMES])
    f, rows, R = (np.array(each) for each in look(solution.a.T, p))
    attitude = _attitude(solution.q[-1])
    limit = drawn.values["limit"] if drawn.form.limit else np.inf
    found = ipopt(x0=solution.a.ravel(), p=p, lbx=-limit, ubx=limit, lbg=0, ubg=0)
    violated = max(np.abs(rows).max(initial=0.0), np.abs(solution.a).max() / limit - 1)
    lower = (f.item() - float(found["f"])) / f.item() if ipopt.stats()["success"] else None
    return Turned(float(np.abs(R - attitude).max()), float(violated), lower)


def _attitude(q: np.ndarray) -> np.ndarray:
    if len(q) == 2:
        (x, y) = q
        return np.array([[x, -y, 0], [y, x, 0], [0, 0, 1]])
    x, y, z, w = q
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
