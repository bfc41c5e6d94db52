"""The solution that the tests of this folder look at."""

import pytest
from support.ocp_problems import limited_pendulum


@pytest.fixture(scope="module")
def solver():
    return limited_pendulum().build()


@pytest.fixture(scope="module")
def solution(solver):
    return solver.solve(begin=[0.0, 0.0])
