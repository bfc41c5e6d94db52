"""Forward dynamics with loops by a sparse factorization of the proximal KKT matrix (Carpentier 2021; Sathya 2025
Sec. III-E).

Eliminating the accelerations by Featherstone's M = L' D L (`ltl`) keeps the zeros of the tree, in M and in the
constraints' Y = J L^-1; what is left of the KKT matrix is the damped Delassus matrix (Sathya 2025 eq. 13)

    Lambda = Y D^-1 Y' + 1/mu,    Lambda lambda = k - J a_free + lambda_k / mu.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..algebra.arrays import Array, rows
from ..algebra.ldl import Factor
from ..constraints.loops import jacobian
from ..free.crba import blocks
from ..free.ltl_factor import LTL, by_dof, pushed, transposed
from ..free.rnea import body_accelerations, newton_euler
from .factorization import ProximalFactorization


class ProxLTL(ProximalFactorization):
    """The factorization at a state: see `factorization`."""

    name, stiffness = "prox-ltl", 1e5

    def factorize(self) -> None:
        model, move, held, mu = self.model, self.move, self.held, self.mu
        at_rest = body_accelerations(model, move, np.zeros((model.nv, 1)))
        self.M = LTL(model, blocks(model, move.X))
        self.y = self.M.inward(by_dof(self.problem.tau - newton_euler(model, move, at_rest, self.problem.external)))
        self.Y = [self.M.inward(transposed(model, jacobian(model, move.X, row))) for row in held]
        free = [Ja[0] for Ja in self.M.form(self.Y, [self.y])]
        self.residual = [row.residual(at_rest) - Ja for row, Ja in zip(held, free)]
        self.ends = np.cumsum([row.size for row in held]).tolist()
        if held:
            self.Lambda = Factor(self.M.delassus(self.Y) + np.eye(self.ends[-1]) / mu)

    def first(self, forces: Sequence[Array]) -> tuple[Array, list[Array]]:
        reached = self._damped([part + force / self.mu for part, force in zip(self.residual, forces)])
        a = self.M.outward(pushed(self.y, self.Y, reached))
        return a, [(new - old) / self.mu for new, old in zip(reached, forces)]

    def again(self, residual: Sequence[Array]) -> tuple[Array, list[Array]]:
        more = self._damped(residual)
        at_rest = by_dof(np.zeros((len(self.M.chain), 1)))
        return self.M.outward(pushed(at_rest, self.Y, more)), [part / self.mu for part in more]

    def _damped(self, wanted: Sequence[Array]) -> list[Array]:
        """Lambda^-1, for parts of each constraint."""
        if not wanted:
            return []
        stacked = self.Lambda.solve(rows(wanted))
        return [stacked[end - part.shape[0] : end, :] for end, part in zip(self.ends, wanted)]
