"""CasADi's locks at a fork.

CasADi works without Python's lock, behind locks of its own. One that another thread holds while this one forks is held
in the child for ever, so every fork takes them first: for as long as a call of CasADi's has them, which needs nothing
of Python's. They are known by the names that the linker has for them; a CasADi that has others is left alone.
"""

import ctypes
import os
from importlib import import_module

from ..instruction_sets import core

# Marks on the nodes of expressions, then the patterns that all matrices share: in the order in which CasADi nests them.
_NAMES = (
    "_ZN6casadi2MX10mutex_tempE",
    "_ZN6casadi6SXElem10mutex_tempE",
    "_ZN6casadi8Sparsity14cachingmap_mtxE",
)


def _addresses() -> list[int]:
    library = ctypes.CDLL(import_module("casadi._casadi").__file__)
    found = []
    for name in _NAMES:
        try:
            found.append(ctypes.addressof(ctypes.c_byte.in_dll(library, name)))
        except ValueError:
            continue
    return found


if hasattr(os, "fork"):
    core.hold_at_fork(_addresses())
