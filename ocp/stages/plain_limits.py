"""Limits that are a number, a parameter, or a sum or difference of the two: read off the parameters without CasADi,
which takes its time where a stage has hundreds of them, and loses what the handler of a signal raises meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

PARTS = {ca.OP_ADD: (1.0, 1.0), ca.OP_SUB: (1.0, -1.0)}


@dataclass(frozen=True, eq=False)
class PlainLimits:
    """constant + sign * parameter, (count,) each; the parameters are at `place` among some symbols, sign 0 without."""

    constant: np.ndarray
    sign: np.ndarray
    place: np.ndarray

    def at(self, parameters: np.ndarray) -> np.ndarray:
        """The limits (..., count) for parameters (..., size)."""
        if not parameters.shape[-1]:
            return np.broadcast_to(self.constant, (*parameters.shape[:-1], len(self.constant)))
        return np.where(self.sign == 0.0, self.constant, self.constant + self.sign * parameters[..., self.place])


def plain_limits(limits: ca.SX, symbols: ca.SX) -> PlainLimits | None:
    """Limits of that kind, or None where one is more than that."""
    known = {symbol.element_hash(): i for i, symbol in enumerate(ca.vertsplit(symbols))} if symbols.numel() else {}
    found = [_term(limit, known) for limit in ca.vertsplit(ca.densify(limits))] if limits.numel() else []
    terms = [term for term in found if term is not None]
    if len(terms) < len(found):
        return None
    constant, sign, place = (np.array(part) for part in zip(*terms)) if terms else (np.zeros(0),) * 3
    return PlainLimits(constant.astype(float), sign.astype(float), place.astype(int))


def _term(limit: ca.SX, known: dict[int, int]) -> tuple[float, float, int] | None:
    """constant, sign and place of one limit."""
    if limit.is_constant():
        return float(limit), 0.0, 0
    if limit.is_symbolic():
        return _symbol(limit, 1.0, known)
    if limit.n_dep() != 2 or limit.op() not in PARTS:
        return None
    constant, found = 0.0, None
    for part, sign in zip((limit.dep(0), limit.dep(1)), PARTS[limit.op()]):
        if part.is_constant():
            constant = sign * float(part)
        elif part.is_symbolic() and found is None:
            found = _symbol(part, sign, known)
        else:
            return None
    return None if found is None else (constant, found[1], found[2])


def _symbol(symbol: ca.SX, sign: float, known: dict[int, int]) -> tuple[float, float, int] | None:
    place = known.get(symbol.element_hash())
    return None if place is None else (0.0, sign, place)
