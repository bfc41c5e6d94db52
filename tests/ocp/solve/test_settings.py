"""Settings of a solve: checked, the core's own by default, and obeyed."""

import re

import pytest
from support.ocp_problems import swing_up
from trisweep.native import core
from trisweep.ocp import ProblemError, Settings
from trisweep.ocp.solve.native_backend import core_settings


def test_the_defaults_of_the_settings_are_those_of_the_core():
    given, plain = core_settings(Settings(), warm=False), core.Settings()
    for name in (*core.Settings.limits(), "barrier", "curvature", "warm_start"):
        assert getattr(given, name) == getattr(plain, name), name


@pytest.mark.parametrize("name", core.Settings.limits())
def test_a_setting_beyond_its_limits_is_refused_here_and_in_the_core(name):
    kind, (least, most) = type(getattr(core.Settings(), name)), core.Settings.limits()[name]
    solver, plain = swing_up().build(), core.Settings()
    Settings(**{name: kind(most)})
    for wrong in [kind(least) - 1] + [kind(2 * most)] * (most < float("inf")):
        with pytest.raises(ProblemError, match=re.escape(f"{name} is {wrong!r}, expected")):
            Settings(**{name: wrong})
        setattr(plain, name, wrong)
        with pytest.raises(ValueError, match=f"{name} is out of its range"):
            solver.backend.core.solve(plain, None)


def test_limits_of_iterations_and_time():
    solver = swing_up().build()
    few = solver.solve(settings=Settings(iterations=3))
    assert (few.status, few.statistics.iterations) == ("iteration limit", 3)
    assert solver.solve(settings=Settings(seconds=1e-9)).status == "time limit"
    assert solver.solve(settings=Settings(iterations=0)).status == "iteration limit"


def test_settings_are_checked():
    for wrong, sentence in (
        ({"patience": -1}, "patience is -1, expected a number from 0 to 1000000000"),
        ({"barrier": "free"}, "barrier is 'free', expected 'adaptive' or 'monotone'"),
        ({"curvature": ["damped"]}, "curvature is .*, expected 'damped' or 'shifted'"),
        ({"threads": 0}, "threads is 0, expected a number from 1 to 256"),
        ({"threads": True}, "threads is True"),
        ({"log": 1}, "log is 1, expected True or False"),
        ({"portfolio": "yes"}, "portfolio is 'yes', expected True or False"),
        ({"tolerance": -1.0}, "tolerance is -1.0, expected a positive number"),
    ):
        with pytest.raises(ProblemError, match=sentence):
            Settings(**wrong)
