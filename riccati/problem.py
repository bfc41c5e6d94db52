"""The statement of a linear-quadratic problem on a tree.

    minimize    sum over stages k of   1/2 [u; x]' [R S'; S Q] [u; x] + [r; q]' [u; x]
    subject to  x_k = A_k x_parent + B_k u_parent + b_k        on the edge from the parent of k
                Gu_k u_k + Gx_k x_k + g_k = 0                  at every stage
                x_0 = initial_state                            unless the root is free

A chain of time steps is the tree in which every stage has one child. Nothing is assumed of R, Q and G but that
the reduced Hessian (the Hessian on the null space of all equalities) is positive definite, and `solve` says so
when it is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ProblemError
from ..floats import checked_floats

if TYPE_CHECKING:
    from .solution import LQSolution

Array = NDArray[np.float64]
ARRAY = "an array of numbers"  # what messages expect

# A matrix of the cost may differ from its transpose by this much, relative to its largest entry, before it is
# taken for a mistake; what is used is its symmetric part.
SYMMETRY_TOLERANCE = 1e-8


@dataclass(frozen=True)
class Stage:
    """One stage: its cost, its equalities, and the edge that leads to it from its parent.

    With nx states, nu controls and ng equalities here, and px states and pu controls at the parent:
    Q (nx, nx), q (nx,), R (nu, nu), S (nx, nu), r (nu,), Gx (ng, nx), Gu (ng, nu), g (ng,),
    A (nx, px), B (nx, pu), b (nx,). What is left out is zero; nu is read off R, S, r or Gu, and ng off Gx, Gu or g.
    The root has no parent; every other stage names the index of an earlier one.
    """

    Q: ArrayLike
    q: ArrayLike
    R: ArrayLike | None = None
    S: ArrayLike | None = None
    r: ArrayLike | None = None
    Gx: ArrayLike | None = None
    Gu: ArrayLike | None = None
    g: ArrayLike | None = None
    parent: int | None = None
    A: ArrayLike | None = None
    B: ArrayLike | None = None
    b: ArrayLike | None = None


@dataclass(frozen=True)
class CheckedStage(Stage):
    """A stage of an `LQProblem`: every field is an array, only the root has no edge (A, B, b)."""

    Q: Array
    q: Array
    R: Array
    S: Array
    r: Array
    Gx: Array
    Gu: Array
    g: Array
    A: Array | None = None
    B: Array | None = None
    b: Array | None = None

    @property
    def nx(self) -> int:
        return len(self.q)

    @property
    def nu(self) -> int:
        return len(self.r)

    @property
    def ng(self) -> int:
        return len(self.g)

    @property
    def E(self) -> Array:
        """The edge's matrix [B A] (nx, pu + px); (0, 0) at the root."""
        return np.zeros((0, 0)) if self.A is None or self.B is None else np.hstack([self.B, self.A])


@dataclass(frozen=True)
class RightHandSide:
    """The vectors of a problem, one entry a stage; the matrices are what `factorize` has seen.

    b[0] is ignored: the root has no edge. `dataclasses.replace(problem.right_hand_side, b=...)` makes another.
    """

    q: Sequence[ArrayLike]
    r: Sequence[ArrayLike]
    b: Sequence[ArrayLike]
    g: Sequence[ArrayLike]
    initial_state: ArrayLike | None = None


class LQProblem:
    """A tree of stages, checked: `stages` holds them again with every field an array.

    stages: the root first, every parent before its children.
    initial_state: (nx,) fixes the root's state; None leaves it free.
    """

    def __init__(self, stages: Sequence[Stage], initial_state: ArrayLike | None = None):
        if len(stages) == 0:
            raise ProblemError("an LQProblem needs at least one stage, got none")
        checked: list[CheckedStage] = []
        for index, stage in enumerate(stages):
            checked.append(_check_stage(index, stage, checked))
        self.stages = tuple(checked)
        self.initial_state: Array | None = None
        if initial_state is not None:
            self.initial_state = _array("initial_state", initial_state, (self.stages[0].nx,))

    @classmethod
    def chain(
        cls,
        steps: int,
        *,
        A: ArrayLike,
        B: ArrayLike,
        Q: ArrayLike,
        R: ArrayLike,
        S: ArrayLike | None = None,
        q: ArrayLike | None = None,
        r: ArrayLike | None = None,
        b: ArrayLike | None = None,
        Gx: ArrayLike | None = None,
        Gu: ArrayLike | None = None,
        g: ArrayLike | None = None,
        final: Stage | None = None,
        initial_state: ArrayLike | None = None,
    ) -> LQProblem:
        """The chain of `steps` steps, that is `steps + 1` stages, the last of them `final` (default: cost Q, q).

        Each argument is one array for all steps, or has a leading axis of length `steps`.
        """
        if steps < 1:
            raise ProblemError(f"chain: steps is {steps}, expected at least 1")
        per_step = {
            name: _per_step(name, value, rank, steps)
            for name, value, rank in (
                ("A", A, 2), ("B", B, 2), ("b", b, 1), ("Q", Q, 2), ("R", R, 2), ("S", S, 2),
                ("q", q, 1), ("r", r, 1), ("Gx", Gx, 2), ("Gu", Gu, 2), ("g", g, 1),
            )
        }  # fmt: skip
        if per_step["q"][0] is None:
            per_step["q"] = [np.zeros(len(matrix)) for matrix in per_step["Q"]]
        at_stage = ("Q", "q", "R", "S", "r", "Gx", "Gu", "g")
        edge = ("A", "B", "b")
        final = final or Stage(per_step["Q"][-1], per_step["q"][-1])
        stages = [Stage(**{name: per_step[name][0] for name in at_stage})]
        for k in range(1, steps + 1):
            here = (
                {name: per_step[name][k] for name in at_stage}
                if k < steps
                else {name: getattr(final, name) for name in at_stage}
            )
            stages.append(Stage(**here, parent=k - 1, **{name: per_step[name][k - 1] for name in edge}))
        return cls(stages, initial_state)

    @property
    def right_hand_side(self) -> RightHandSide:
        """The vectors of this problem."""
        return RightHandSide(
            q=[stage.q for stage in self.stages],
            r=[stage.r for stage in self.stages],
            b=[np.zeros(stage.nx) if stage.b is None else stage.b for stage in self.stages],
            g=[stage.g for stage in self.stages],
            initial_state=self.initial_state,
        )

    def with_right_hand_side(self, vectors: RightHandSide) -> LQProblem:
        """The same matrices with other vectors, checked."""
        for name in ("q", "r", "b", "g"):
            if len(getattr(vectors, name)) != len(self.stages):
                raise ProblemError(
                    f"right-hand side: {name} has {len(getattr(vectors, name))} entries, "
                    f"expected one for each of the {len(self.stages)} stages"
                )
        if (vectors.initial_state is None) != (self.initial_state is None):
            wanted = "None, as the root is free" if self.initial_state is None else "a vector, as the root is fixed"
            raise ProblemError(f"right-hand side: initial_state is {vectors.initial_state}, expected {wanted}")
        other = object.__new__(LQProblem)
        other.stages = tuple(_with_vectors(index, stage, vectors) for index, stage in enumerate(self.stages))
        other.initial_state = None
        if self.initial_state is not None:
            other.initial_state = _array("initial_state", vectors.initial_state, self.initial_state.shape)
        return other

    def solve(self) -> LQSolution:
        """The solution; the same as `factorize(problem).solve()`."""
        from .factorization import factorize

        return factorize(self).solve()

    def objective(self, x: Sequence[ArrayLike], u: Sequence[ArrayLike]) -> float:
        """The cost of a trajectory: one state and one control vector a stage."""
        return float(
            sum(
                0.5 * (u_k @ s.R @ u_k + x_k @ s.Q @ x_k) + x_k @ s.S @ u_k + s.r @ u_k + s.q @ x_k
                for s, x_k, u_k in zip(self.stages, map(np.asarray, x), map(np.asarray, u))
            )
        )

    def __repr__(self) -> str:
        nx, nu, ng = (sum(getattr(s, size) for s in self.stages) for size in ("nx", "nu", "ng"))
        root = "free" if self.initial_state is None else "fixed"
        return f"LQProblem({len(self.stages)} stages, root {root}: {nx} states, {nu} controls, {ng} equalities)"


def _array(where: str, value: ArrayLike | None, shape: tuple[int, ...]) -> Array:
    array = checked_floats(where, value, ARRAY)
    if array.shape != shape:
        raise ProblemError(f"{where} has shape {array.shape}, expected {shape}")
    if not np.isfinite(array).all():
        entry = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ProblemError(f"{where}[{', '.join(map(str, entry))}] is {array[entry]}, expected a finite number")
    array.flags.writeable = False
    return array


def _symmetric(where: str, value: ArrayLike, size: int) -> Array:
    matrix = _array(where, value, (size, size))
    gap = np.abs(matrix - matrix.T)
    if gap.size and gap.max() > SYMMETRY_TOLERANCE * np.abs(matrix).max():
        i, j = np.unravel_index(gap.argmax(), gap.shape)
        raise ProblemError(
            f"{where} is not symmetric: [{i}, {j}] is {matrix[i, j]:g} and [{j}, {i}] is {matrix[j, i]:g}"
        )
    return 0.5 * (matrix + matrix.T)


def _shape(where: str, value: ArrayLike) -> tuple[int, ...]:
    try:
        return np.asarray(value).shape
    except (TypeError, ValueError):
        raise ProblemError(f"{where} is a {type(value).__name__}, expected {ARRAY}") from None


def _size(where: str, candidates: tuple[tuple[str, ArrayLike | None, int], ...]) -> int:
    """The length of the first field that was given along the named axis."""
    for name, value, axis in candidates:
        if value is not None:
            shape = _shape(f"{where}: {name}", value)
            if len(shape) <= axis:
                raise ProblemError(f"{where}: {name} has shape {shape}, expected {axis + 1} or more axes")
            return shape[axis]
    return 0


def _check_stage(index: int, stage: Stage, earlier: list[CheckedStage]) -> CheckedStage:
    where = f"stage {index}"
    if not isinstance(stage, Stage):
        raise ProblemError(f"{where} is a {type(stage).__name__}, expected a Stage")
    try:
        nx = _size(where, (("q", stage.q, 0), ("Q", stage.Q, 0)))
        nu = _size(where, (("R", stage.R, 0), ("r", stage.r, 0), ("S", stage.S, 1), ("Gu", stage.Gu, 1)))
        ng = _size(where, (("g", stage.g, 0), ("Gx", stage.Gx, 0), ("Gu", stage.Gu, 0)))
    except ValueError as error:
        raise error if isinstance(error, ProblemError) else ProblemError(f"{where}: {error}") from None

    def field(name: str, *shape: int) -> Array:
        value = getattr(stage, name)
        return _array(f"{where}: {name}", np.zeros(shape) if value is None else value, shape)

    if stage.Q is None or stage.q is None:
        raise ProblemError(f"{where}: {'Q' if stage.Q is None else 'q'} is None, expected an array")
    checked = CheckedStage(
        Q=_symmetric(f"{where}: Q", stage.Q, nx),
        q=field("q", nx),
        R=_symmetric(f"{where}: R", np.zeros((nu, nu)) if stage.R is None else stage.R, nu),
        S=field("S", nx, nu),
        r=field("r", nu),
        Gx=field("Gx", ng, nx),
        Gu=field("Gu", ng, nu),
        g=field("g", ng),
    )
    parent = _check_parent(index, stage)
    if parent is None:
        return checked
    px, pu = earlier[parent].nx, earlier[parent].nu
    return replace(checked, parent=parent, A=field("A", nx, px), B=field("B", nx, pu), b=field("b", nx))


def _check_parent(index: int, stage: Stage) -> int | None:
    parent = stage.parent
    if index == 0:
        for name in ("parent", "A", "B", "b"):
            if getattr(stage, name) is not None:
                raise ProblemError(f"stage 0: {name} is given, but the root has no parent; expected None")
        return None
    if isinstance(parent, bool) or not isinstance(parent, (int, np.integer)):
        raise ProblemError(f"stage {index}: parent is {parent!r}, expected the index of an earlier stage")
    if not 0 <= parent < index:
        raise ProblemError(f"stage {index}: parent is {parent}, expected an earlier stage, 0 to {index - 1}")
    if stage.A is None:
        raise ProblemError(f"stage {index}: A is None, expected the matrix of the edge from stage {parent}")
    return int(parent)


def _with_vectors(index: int, stage: CheckedStage, vectors: RightHandSide) -> CheckedStage:
    others: dict[str, Any] = {
        name: _array(f"right-hand side, stage {index}: {name}", getattr(vectors, name)[index], old.shape)
        for name in ("q", "r", "b", "g")
        if (old := getattr(stage, name)) is not None
    }
    return replace(stage, **others)


def _per_step(name: str, value: ArrayLike | None, rank: int, steps: int) -> list[Any]:
    if value is None:
        return [None] * steps
    shape = np.shape(value)
    if len(shape) == rank:
        return [value] * steps
    if len(shape) == rank + 1 and shape[0] == steps:
        return list(np.asarray(value))
    raise ProblemError(
        f"chain: {name} has shape {shape}, expected {rank} axes, or {rank + 1} with {steps} entries along the first"
    )
