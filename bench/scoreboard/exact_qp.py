"""Random convex QPs with numbers over ten decades, and their solution by active sets in 50 digits.

    minimise 1/2 z'Hz + c'z   subject to   A z = b,   l <= G z <= h          (all stages at once, dense)

From the rows that an answer presses on, by its place alone, rows are let go where their multiplier has the wrong sign
and taken in where the point is beyond them, until neither is so: what is then found is the solution, as the problem is
strictly convex. Nothing of it is the solver's: not its multipliers, nor its scales.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import mpmath as mp
import numpy as np
from trisweep.riccati import QP, QPSolution, Stage, StageLimits

DIGITS, ROUNDS, NEAR = 50, 60, 1e-5
Array = np.ndarray


class DrawnQP(NamedTuple):
    """A chain of stages with their limits; the first state is given."""

    stages: list[Stage]
    limits: list[StageLimits]
    first: Array


class Exact(NamedTuple):
    """ended: whether the sets came to an end. apart: of the objectives, as a share of the objective's terms; violated:
    the worst row of the answer, as a share of its terms or of its limit.
    """

    ended: bool
    apart: float
    violated: float


def draw(seed: int) -> DrawnQP:
    """A random QP: units of states, controls, rows and costs are drawn, so are limits that bind or do not."""
    rng = np.random.default_rng(seed)

    def size(low: float, high: float, *shape: int) -> Any:
        return 10.0 ** rng.uniform(low, high, shape)

    count, nx, nu = rng.integers(1, 4), rng.integers(1, 3), rng.integers(1, 3)
    unit_x, unit_u = size(-4, 4, nx), size(-4, 4, nu)
    cost = size(-4, 4, 1)[0]
    stages, limits = [], []
    for k in range(count + 1):
        Q, R = _positive(rng, nx) / np.outer(unit_x, unit_x), _positive(rng, nu) / np.outer(unit_u, unit_u)
        given: dict[str, Any] = {"Q": cost * Q, "q": cost * rng.normal(size=nx) * size(-2, 2, nx) / unit_x}
        bounds: dict[str, Any] = {}
        if k:
            given |= {
                "A": rng.normal(size=(nx, nx)) * np.outer(unit_x, 1 / unit_x),
                "B": rng.normal(size=(nx, nu)) * np.outer(unit_x, 1 / unit_u),
                "b": rng.normal(size=nx) * unit_x,
            }
        if k < count:
            given |= {"R": cost * R, "r": cost * rng.normal(size=nu) * size(-2, 2, nu) / unit_u}
            if rng.random() < 0.7:
                limit = unit_u * size(-3, 1, nu)
                bounds |= {"u_lower": -limit * size(-3, 0, nu), "u_upper": limit}
            if rng.random() < 0.5:  # a row that zero controls meet
                scale, of_x = size(-4, 4, 1)[0], rng.normal(size=(1, nx)) * (k > 0)
                bounds |= {
                    "Cu": scale * rng.normal(size=(1, nu)) / unit_u,
                    "Cx": 1e-3 * scale * of_x / unit_x,
                    "upper": scale * size(-3, 1, 1),
                }
        stages.append(Stage(**given, **({} if k == 0 else {"parent": k - 1})))
        limits.append(StageLimits(**bounds))
    return DrawnQP(stages, limits, rng.normal(size=nx) * unit_x)


def solve(drawn: DrawnQP) -> QPSolution:
    return QP(drawn.stages, drawn.limits, drawn.first).solve()


def confirm(drawn: DrawnQP, answer: QPSolution) -> Exact:
    """The exact solution, from the answer's active rows."""
    dense = _Dense(drawn)
    z = np.concatenate([part for u, x in zip(answer.u, answer.x) for part in (u, x)])
    with mp.workdps(DIGITS):
        found = dense.solve(z)
        if found is None:
            return Exact(False, np.nan, np.nan)
        here, there = dense.objective(mp.matrix(z.tolist())), dense.objective(found)
        apart = abs(here - there) / max(dense.terms(found), mp.mpf("1e-300"))
        return Exact(True, float(apart), dense.violation(z))


def _positive(rng: np.random.Generator, size: int) -> Array:
    root = rng.normal(size=(size, size))
    return root @ root.T + 0.05 * np.eye(size)


class _Dense:
    """The whole problem in one matrix each."""

    def __init__(self, drawn: DrawnQP):
        stages = [
            {name: np.atleast_1d(value) for name, value in vars(s).items() if value is not None} for s in drawn.stages
        ]
        nx = len(drawn.first)
        nu = [len(s["r"]) if "r" in s else 0 for s in stages]
        at = np.cumsum([0, *(n + nx for n in nu)])
        size = at[-1]
        self.H, self.c = np.zeros((size, size)), np.zeros(size)
        A, b, G, low, high = [], [], [], [], []
        for k, (s, limit) in enumerate(zip(stages, drawn.limits)):
            u, x = slice(at[k], at[k] + nu[k]), slice(at[k] + nu[k], at[k + 1])
            self.H[x, x], self.c[x] = s["Q"], s["q"]
            if nu[k]:
                self.H[u, u], self.c[u] = s["R"], s["r"]
            rows = np.zeros((nx, size))
            rows[:, x] = -np.eye(nx)
            if k:
                before = slice(at[k - 1] + nu[k - 1], at[k]), slice(at[k - 1], at[k - 1] + nu[k - 1])
                rows[:, before[0]], rows[:, before[1]] = s["A"], s["B"]
            A.append(rows)
            b.append(-s["b"] if k else -drawn.first)
            for i in range(nu[k] if np.ndim(limit.u_upper) else 0):
                row = np.zeros(size)
                row[at[k] + i] = 1.0
                G.append(row), low.append(np.asarray(limit.u_lower)[i]), high.append(np.asarray(limit.u_upper)[i])
            if limit.Cu is not None:
                row = np.zeros(size)
                row[u], row[x] = np.asarray(limit.Cu)[0], np.asarray(limit.Cx)[0]
                G.append(row), low.append(-np.inf), high.append(float(np.asarray(limit.upper)[0]))
        self.A, self.b = np.vstack(A), np.concatenate(b)
        self.G, self.low, self.high = np.array(G).reshape(-1, size), np.array(low), np.array(high)

    def objective(self, z: mp.matrix) -> Any:
        return (z.T * mp.matrix(self.H.tolist()) * z)[0] / 2 + mp.fdot(self.c.tolist(), z)

    def terms(self, z: mp.matrix) -> Any:
        """The sum of the sizes of what is added up in the objective."""
        point = np.array([float(each) for each in z])
        return float(0.5 * np.abs(point) @ np.abs(self.H) @ np.abs(point) + np.abs(self.c) @ np.abs(point))

    def violation(self, z: Array) -> float:
        """The worst row."""
        off = np.abs(self.A @ z - self.b) / np.maximum(np.abs(self.A) @ np.abs(z) + np.abs(self.b), 1e-300)
        value = self.G @ z
        ends = [np.where(np.isfinite(limit), np.abs(limit), 0.0) for limit in (self.low, self.high)]
        size = np.maximum.reduce([np.abs(self.G) @ np.abs(z), *ends, np.full(len(value), 1e-300)])
        beyond = np.maximum(value - self.high, self.low - value) / size
        return float(max(off.max(initial=0.0), beyond.max(initial=0.0)))

    def solve(self, z: Array) -> mp.matrix | None:
        """Active sets from the rows near which z is; None where they do not end."""
        value, held = self.G @ z, {}
        for i in range(len(self.G)):
            size = np.abs(self.G[i]) @ np.abs(z)
            for sign, limit in ((1, self.high[i]), (-1, self.low[i])):
                if np.isfinite(limit) and abs(value[i] - limit) <= NEAR * max(size, abs(limit)):
                    held[i] = sign
        for _ in range(ROUNDS):
            try:
                found, multipliers = self._stationary(held)
            except ZeroDivisionError:  # rows that repeat each other: one of them is enough
                held.popitem()
                continue
            wrong = {i: sign * multipliers[i] for i, sign in held.items() if sign * multipliers[i] < 0}
            if wrong:
                del held[min(wrong, key=lambda i: wrong[i] * np.linalg.norm(self.G[i]))]
                continue
            beyond = {}
            for i in range(len(self.G)):
                at = mp.fdot(self.G[i].tolist(), found)
                for sign, limit in ((1, self.high[i]), (-1, self.low[i])):
                    if i not in held and np.isfinite(limit) and sign * (at - mp.mpf(float(limit))) > 0:
                        beyond[i] = sign * (at - mp.mpf(float(limit))) / np.linalg.norm(self.G[i]), sign
            if not beyond:
                return found
            worst = max(beyond, key=lambda i: beyond[i][0])
            held[worst] = beyond[worst][1]
        return None

    def _stationary(self, held: dict[int, int]) -> tuple[mp.matrix, dict[int, Any]]:
        rows = np.vstack([self.A, *(self.G[i : i + 1] for i in held)])
        right = [*self.b, *(self.high[i] if sign > 0 else self.low[i] for i, sign in held.items())]
        n, m = len(self.c), len(rows)
        K = mp.zeros(n + m)
        for i in range(n):
            for j in range(n):
                K[i, j] = mp.mpf(float(self.H[i, j]))
        for i in range(m):
            for j in range(n):
                K[n + i, j] = K[j, n + i] = mp.mpf(float(rows[i, j]))
        found = mp.lu_solve(
            K, mp.matrix([-mp.mpf(float(each)) for each in self.c] + [mp.mpf(float(each)) for each in right])
        )
        return found[:n], {i: found[n + len(self.A) + k] for k, i in enumerate(held)}
