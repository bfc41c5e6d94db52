"""What the core answers by recursions over the bodies (native/src/bodies/tree_code.hpp), called with the user's arrays.

Compiled is only where the joints carry the bodies: a humanoid's slopes as straight code are 80,000 instructions, which
wait for memory; "riccati" decides ranks as it goes, and so has no straight code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import casadi as ca

from ... import native
from ...forks import no_fork
from ...native import core
from ..constraints.constraint import Constraint
from ..forward_problem import ForwardProblem, forward_problem
from ..nodes import recursion
from .machine_code import INDEPENDENT, ArrayCode

if TYPE_CHECKING:
    from ..model import Model

# From so many dofs on, slopes by recursions take less time than straight code, but for batches, and are there at once.
MANY_DOFS = 30

CAN_HOLD = "a configuration at which the constraints' rows can hold, and numbers of a sensible size"


class RecursiveCode(ArrayCode):
    """The answer of a `kind` of code in the core, called with the symbols of a problem, by their names."""

    def __init__(
        self,
        name: str,
        kind: str,
        problem: ForwardProblem,
        symbols: dict[str, ca.SX],
        shapes: Sequence[tuple[int, int]],
        sought: str = INDEPENDENT,
        groups: Sequence[int] = (),
    ):
        model, tables = problem.model, recursion.tree(problem.model, problem.constraints, soft=False)
        with no_fork():
            given = ca.Function(name, list(symbols.values()), [recursion.arguments(problem)])
            self.function = code = native.compile_function(given)
        compiled = core.Compiled(code.address, code.sizes.work, code.sizes.outputs[0])
        made = getattr(core, kind)(tables, compiled, len(symbols))
        sizes = {each: symbol.numel() for each, symbol in symbols.items()}
        super().__init__(model, name, sizes, shapes, made, sought, groups)


def has_recursive_slopes(model: Model, constraints: Sequence[Constraint]) -> bool:
    """True where slopes by recursions are there, and worth it."""
    return model.nv >= MANY_DOFS and not model.passive and recursion.has_tables(model, constraints)


def inverse_slopes(model: Model) -> ArrayCode:
    """Slopes of the joint forces by q, v and a."""
    symbols = _state(model, "a")
    problem = ForwardProblem(model, symbols["q"], symbols["v"], symbols["a"])
    return RecursiveCode("inverse_dynamics_slopes", "InverseSlopes", problem, symbols, [(model.nv, model.nv)] * 3)


def forward_slopes(model: Model, constraints: Sequence[Constraint]) -> ArrayCode:
    """Slopes of the accelerations by q, v and tau, then those of all constraint forces."""
    symbols, rows = _state(model, "tau"), sum(row.size for row in constraints)
    problem = ForwardProblem(model, symbols["q"], symbols["v"], symbols["tau"], constraints)
    shapes = [(model.nv, model.nv)] * 3 + [(rows, model.nv)] * 3 * bool(constraints)
    groups = (3, 3) if constraints else ()
    return RecursiveCode("forward_dynamics_slopes", "ForwardSlopes", problem, symbols, shapes, groups=groups)


def gauss(model: Model, constraints: Sequence[Constraint], links: Sequence[str]) -> ArrayCode:
    """Forward dynamics by method "riccati", with forces on links."""
    state, pushes = _state(model, "tau"), {link: ca.SX.sym("f", 6) for link in links}
    bodies = model.on_bodies(pushes)
    problem = forward_problem(model, state["q"], state["v"], state["tau"], constraints, bodies)
    symbols = state | {f"external force on '{link}'": push for link, push in pushes.items()}
    shapes = [(model.nv, 1), *((row.size, 1) for row in constraints)]
    return RecursiveCode("forward_dynamics", "GaussCode", problem, symbols, shapes, CAN_HOLD, (0, len(constraints)))


def _state(model: Model, third: str) -> dict[str, ca.SX]:
    return {name: ca.SX.sym(name, model.nq if name == "q" else model.nv) for name in ("q", "v", third)}
