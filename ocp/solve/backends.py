"""The back ends by name."""

from __future__ import annotations

from collections.abc import Callable

from ..stages.layout import Layout
from ..stages.transcription import Transcription
from .backend import Backend
from .casadi_backend import CasadiBackend
from .native_backend import NativeBackend

# name: from transcription, layout and kind of Hessian to a back end
BACKENDS: dict[str, Callable[[Transcription, Layout, str], Backend]] = {
    "native": NativeBackend,
    "ipopt": lambda transcription, layout, hessian: CasadiBackend("ipopt", transcription, layout, hessian),
    "fatrop": lambda transcription, layout, hessian: CasadiBackend("fatrop", transcription, layout, hessian),
}
