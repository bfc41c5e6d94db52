"""The core's types as a checker of types sees them: `native/_core.pyi`, made of the module itself.

    python tests/support/core_stub.py      (make stubs)

writes it anew after a change of the bindings; `tests/native/test_core_stub.py` holds it against the module.
"""

import re
import subprocess
import sys
from pathlib import Path

import nanobind
from nanobind.stubgen import StubGen
from trisweep.native import core

STUB = Path(__file__).parents[2] / "native" / "_core.pyi"
MADE_BY = f"nanobind {nanobind.__version__}"  # another one may say the same in other words
HEADER = f'"""The core\'s types, for checkers alone: written whole by tests/support/core_stub.py and {MADE_BY}."""\n\n'
# What the bindings leave open.
OPEN = (
    (r"\btuple\b(?!\[)", "tuple[Any, ...]"),
    (r"\blist\b(?!\[)", "list[Any]"),
    (r"\bdict\b(?!\[)", "dict[str, Any]"),
    (r"\*args\) -> object", "*args: Any) -> Any"),
    (r"/, \*args, \*\*kwargs\):\n +\"\"\"Call self as a function.\"\"\"", "*args: Any) -> Any: ..."),
)


def stub() -> str:
    """The stub of the module at work, which is the same at every level."""
    generator = StubGen(core)
    generator.put(core)
    text = generator.get()
    text = re.sub(r"Annotated\[(NDArray\[numpy\.float64\]), dict\([^)]*(?:\([^)]*\)[^)]*)*\)\]", r"\1", text)
    text = re.sub(r"from trisweep\.native\._core_\w+ import kernels as kernels\n", "", text)
    text = text.replace("from typing import Annotated\n", "from types import ModuleType\nfrom typing import Any\n")
    for bare, full in OPEN:
        text = re.sub(bare, full, text)
    return _formatted(HEADER + text + "\nkernels: ModuleType\n")


def _formatted(text: str) -> str:
    ruff = [sys.executable, "-m", "ruff"]
    for arguments in (["check", "--select", "I", "--fix", "--quiet"], ["format", "--quiet"]):
        command = [*ruff, *arguments, "--stdin-filename", str(STUB), "-"]
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    STUB.write_text(stub())
