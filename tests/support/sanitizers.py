"""What cannot be asked of a core under sanitizers (`make asan`, `make tsan`)."""

import os

import pytest

SANITIZED = "TRISWEEP_SANITIZED" in os.environ

needs_own_memory = pytest.mark.skipif(SANITIZED, reason="the sanitizers' own memory is counted too")
