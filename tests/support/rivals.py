"""Other people's solvers in tests: their libraries cannot be loaded under the sanitizers."""

import pytest
from trisweep.ocp import Settings
from trisweep.problems.twins.ipopt import Ipopt

from .sanitizers import SANITIZED

# The rules of Wächter and Biegler 2006, as IPOPT has them by default.
OF_IPOPT = Settings(barrier="monotone", curvature="shifted", patience=0)

needs_rivals = pytest.mark.skipif(bool(SANITIZED), reason="the rivals' libraries cannot be loaded under the sanitizers")


def ipopt(task, solver, **options) -> Ipopt:
    """IPOPT on the program of a task; under the sanitizers the test ends here, its native part has been run."""
    if SANITIZED:
        pytest.skip("IPOPT's library cannot be loaded under the sanitizers; the native solve has been run")
    return Ipopt(task, solver, **options)
