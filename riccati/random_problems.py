"""Random linear-quadratic problems: ragged and nasty ones to test a solver with, well-behaved chains to time it.

>>> from trisweep.riccati.random_problems import random_problem
>>> factorize(random_problem(seed=1)).solve()
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .problem import LQProblem, Stage

Random = np.random.Generator


def random_problem(
    seed: int,
    stages: int | None = None,
    tree: bool | None = None,
    free_root: bool | None = None,
    largest: int = 5,
    equality_rate: float = 0.4,
    redundant_rate: float = 0.3,
    singular_rate: float = 0.4,
    conflict: bool = False,
    indefinite: bool = False,
) -> LQProblem:
    """A ragged problem, consistent by construction: its right-hand sides come from a trajectory that meets them.

    What is None is drawn; `largest` bounds states and controls of a stage. Rates are shares of stages: with equalities,
    with redundant ones among them, with controls that cost nothing.
    conflict: one equality is said twice with two values. indefinite: one control, or the root, has negative curvature.
    """
    rng = np.random.default_rng(seed)
    count = stages or int(rng.integers(1, 9))
    tree = rng.random() < 0.5 if tree is None else tree
    free_root = rng.random() < 0.5 if free_root is None else free_root
    parents = [None, *(int(rng.integers(0, k)) if tree else k - 1 for k in range(1, count))]
    nx = rng.integers(0 if rng.random() < 0.2 else 1, largest + 1, count)
    nu = rng.integers(0, largest + 1, count)
    x: list[np.ndarray] = []
    u: list[np.ndarray] = []
    built: list[Stage] = []
    for k, parent in enumerate(parents):
        u.append(rng.normal(size=nu[k]))
        cost = _cost(rng, nu[k], nx[k], singular_rate)
        edge: dict[str, Any] = {}
        if parent is None:
            x.append(rng.normal(size=nx[0]))
        else:
            A = rng.normal(size=(nx[k], nx[parent])) / max(1.0, np.sqrt(nx[parent]))
            B = rng.normal(size=(nx[k], nu[parent]))
            if nx[k] and rng.random() < 0.3:
                B[rng.integers(nx[k])] = 0.0
            b = rng.normal(size=nx[k])
            x.append(A @ x[parent] + B @ u[parent] + b)
            edge = {"parent": parent, "A": A, "B": B, "b": b}
        Gu, Gx = _equalities(rng, nu[k], nx[k], equality_rate, redundant_rate)
        built.append(Stage(**cost, Gx=Gx, Gu=Gu, g=-(Gu @ u[k] + Gx @ x[k]), **edge))
    if conflict:
        built = _contradict(rng, built)
    if indefinite:
        built = _bend(rng, built)
    return LQProblem(built, None if free_root else x[0])


def benchmark_chain(nx: int, nu: int, steps: int, terminal_rows: int = 0, seed: int = 0) -> LQProblem:
    """A stable, controllable chain with dense matrices and, at its end, `terminal_rows` equalities on the state."""
    rng = np.random.default_rng(seed)

    def definite(size: int) -> np.ndarray:
        factor = rng.normal(size=(steps, size, size)) / np.sqrt(size)
        return factor @ factor.swapaxes(1, 2) + np.eye(size)

    A = np.eye(nx) + 0.1 * rng.normal(size=(steps, nx, nx)) / np.sqrt(nx)
    final = Stage(np.eye(nx), np.zeros(nx))
    if terminal_rows:
        final = Stage(
            np.eye(nx),
            np.zeros(nx),
            Gx=rng.normal(size=(terminal_rows, nx)),
            g=rng.normal(size=terminal_rows),
        )
    return LQProblem.chain(
        steps,
        A=A,
        B=rng.normal(size=(steps, nx, nu)) / np.sqrt(nx),
        b=0.1 * rng.normal(size=(steps, nx)),
        Q=definite(nx),
        R=definite(nu),
        S=0.1 * rng.normal(size=(steps, nx, nu)),
        q=rng.normal(size=(steps, nx)),
        r=rng.normal(size=(steps, nu)),
        final=final,
        initial_state=rng.normal(size=nx),
    )


def _cost(rng: Random, nu: int, nx: int, singular_rate: float) -> dict[str, Any]:
    n = nu + nx
    factor = rng.normal(size=(n, n)) / np.sqrt(max(n, 1))
    H = factor @ factor.T + 0.1 * np.eye(n)
    if nu and rng.random() < singular_rate:
        # No cost on some controls: only the states they reach, or the equalities, hold them.
        idle = rng.random(nu) < 0.5
        H[:nu][idle] = 0.0
        H[:, :nu][:, idle] = 0.0
    return {
        "Q": H[nu:, nu:],
        "R": H[:nu, :nu],
        "S": H[nu:, :nu],
        "q": rng.normal(size=nx),
        "r": rng.normal(size=nu),
    }


def _equalities(
    rng: Random, nu: int, nx: int, equality_rate: float, redundant_rate: float
) -> tuple[np.ndarray, np.ndarray]:
    rows = int(rng.integers(1, 4)) if rng.random() < equality_rate else 0
    G = rng.normal(size=(rows, nu + nx))
    if rng.random() < 0.3:
        G[:, :nu] = 0.0  # on the state alone
    if rows and rng.random() < redundant_rate:
        G = np.vstack([G, rng.normal(size=(int(rng.integers(1, 3)), rows)) @ G])
        G = G[rng.permutation(len(G))]
    G *= 10.0 ** rng.uniform(-2, 2, (len(G), 1))
    return G[:, :nu], G[:, nu:]


def bounded_chain(nx: int, nu: int, steps: int, seed: int = 1) -> LQProblem:
    """A stable time-invariant chain with dense matrices that starts far out: bounds of 4 on its states and 0.5 on its
    controls make a QP of it in which a good part of them is active.
    """
    rng = np.random.default_rng(seed)
    A = np.eye(nx) + 0.1 * rng.normal(size=(nx, nx)) / np.sqrt(nx)
    A *= 0.98 / max(1.0, np.max(np.abs(np.linalg.eigvals(A))))
    B = rng.normal(size=(nx, nu)) / np.sqrt(nx)
    q, r = (rng.normal(size=(size, size)) / np.sqrt(size) for size in (nx, nu))
    Q, R = q @ q.T + np.eye(nx), 0.1 * (r @ r.T + np.eye(nu))
    x0 = rng.normal(size=nx)
    return LQProblem.chain(steps, A=A, B=B, Q=Q, R=R, initial_state=3.0 * x0 / np.max(np.abs(x0)))


def _contradict(rng: Random, stages: list[Stage]) -> list[Stage]:
    """Say one nonzero equality of a random stage twice, with two values."""
    k = int(rng.integers(len(stages)))
    s = stages[k]
    nu, nx = len(_array(s.r)), len(_array(s.q))
    row = rng.normal(size=(1, nu + nx))
    Gu, Gx = row[:, :nu], row[:, nu:]
    g = np.append(_array(s.g), [0.3, 0.3 + 10.0 ** rng.uniform(-3, 1)])
    stages[k] = replace(s, Gx=np.vstack([_array(s.Gx), Gx, Gx]), Gu=np.vstack([_array(s.Gu), Gu, Gu]), g=g)
    return stages


def _bend(rng: Random, stages: list[Stage]) -> list[Stage]:
    """Give one control without effect on any state or equality a negative cost: the reduced Hessian has that sign."""
    k = int(rng.integers(len(stages)))
    widened = []
    for index, s in enumerate(stages):
        if s.parent == k:
            s = replace(s, B=_with_column(s.B))
        if index == k:
            R = _with_column(_with_column(s.R).T)
            R[-1, -1] = -(10.0 ** rng.uniform(-6, 2))
            s = replace(s, R=R, S=_with_column(s.S), r=np.append(_array(s.r), 1.0), Gu=_with_column(s.Gu))
        widened.append(s)
    return widened


def _array(given: ArrayLike | None) -> np.ndarray:
    """A field of a stage that was made here, where none is left out."""
    return np.asarray(given, dtype=float)


def _with_column(given: ArrayLike | None) -> np.ndarray:
    """A matrix with a column of zeros more."""
    matrix = _array(given)
    return np.hstack([matrix, np.zeros((len(matrix), 1))])
