"""Symbols and the expressions made of them. SX symbols cannot be hashed by Python; `element_hash` tells them apart."""

from __future__ import annotations

import casadi as ca


def symbols(*expressions: ca.SX) -> list[ca.SX]:
    """The symbols that the expressions are made of, each once."""
    return ca.symvar(ca.veccat(*expressions))


def index(vector: ca.SX) -> dict[int, int]:
    """Where each symbol of a vector of symbols stands in it."""
    return {symbol.element_hash(): place for place, symbol in enumerate(ca.vertsplit(vector))}


def distinct(vector: ca.SX) -> bool:
    """True if the vector is a column of symbols, none of them twice."""
    return vector.shape[1] == 1 and vector.is_valid_input() and len(index(vector)) == vector.numel()
