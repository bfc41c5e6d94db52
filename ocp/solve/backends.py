"""The back ends by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..stages.layout import Layout
from ..stages.transcription import Transcription
from .backend import Backend
from .casadi_backend import CasadiBackend
from .native_backend import NativeBackend

# name: from transcription, layout, kind of Hessian and, where it is there already, code to a back end
BACKENDS: dict[str, Callable[[Transcription, Layout, str, Any], Backend]] = {
    "native": NativeBackend,
    "ipopt": partial(CasadiBackend, "ipopt"),
    "fatrop": partial(CasadiBackend, "fatrop"),
}
