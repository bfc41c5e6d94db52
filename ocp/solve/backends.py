"""The back ends by name, each imported when first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...late import LateTable
from ..stages.layout import Layout
from ..stages.transcription import Transcription
from .backend import Backend

# name: from transcription, layout, kind of Hessian and, where it is there already, code to a back end
BACKENDS: LateTable[Callable[[Transcription, Layout, str, Any], Backend]] = LateTable(
    __package__,
    {
        "native": (".native_backend", "NativeBackend"),
        "ipopt": (".casadi_backend", "ipopt"),
        "fatrop": (".casadi_backend", "fatrop"),
    },
)
