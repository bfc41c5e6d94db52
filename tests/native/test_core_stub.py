"""The types that checkers see of the core are those that it has."""

import pytest

pytest.importorskip("nanobind", reason="what binds the core to Python makes its stub")
from support.core_stub import MADE_BY, STUB, stub


def test_the_stub_is_that_of_the_module():
    if MADE_BY not in STUB.read_text():
        pytest.skip(f"the stub was not made by {MADE_BY}")
    assert STUB.read_text() == stub(), "the bindings have changed: make stubs"
