"""What cannot be asked of a core under sanitizers (`make asan`, `make tsan`); other code under them."""

import os

import pytest

SANITIZED = os.environ.get("TRISWEEP_SANITIZED", "")  # their names

needs_own_memory = pytest.mark.skipif(bool(SANITIZED), reason="the sanitizers' own memory is counted too")

# For compilers; the exported program's own count of memory is left out.
FLAGS = ["-O1", "-g", f"-fsanitize={SANITIZED}", "-DUNCOUNTED"] if SANITIZED else []


def environment() -> dict[str, str]:
    """For processes that are no Python: without the sanitizers' libraries, which are preloaded for it, and with their
    search for lost memory, which Python's own would fill.
    """
    if not SANITIZED:
        return dict(os.environ)
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"} | {"ASAN_OPTIONS": ""}
