"""Simulations, events and MJCF robots of junk: a sentence, or a motion that is finite and as long as it says."""

import numpy as np
import pytest
from support.junk import VALUES, damaged_xml, fuzz, moves, picker
from support.mjcf_robot import MJCF
from trisweep.dynamics import Event, ModelBuilder, Proximal, load_mjcf, simulate, weld

pytestmark = pytest.mark.usefixtures("quiet")
pick = picker(symbols=False)


@pytest.fixture(scope="module")
def pendulum():
    builder = ModelBuilder("pendulum")
    builder.add("upper", joint="revolute", mass=1.0, com=(0, 0, -0.5), inertia=0.1 * np.eye(3), effort=5.0)
    builder.add("lower", "upper", "revolute", position=(0, 0, -1), mass=1.0, com=(0, 0, -0.5), inertia=0.1 * np.eye(3))
    return builder.build()


def test_simulations(pendulum):
    good = {
        "q": [0.3, 0.2],
        "v": None,
        "tau": [0.0, 0.0],
        "constraints": [weld("lower")],
        "duration": 0.01,
        "step": 1e-3,
        "integrator": "rk4",
        "method": None,
        "settings": Proximal(iterations=2),
        "tolerance": None,
        "events": [],
        "drift": None,
    }
    names = list(good)
    expected = simulate(pendulum, [0.3, 0.2], duration=0.01)

    def attempt(rng):
        given = {"q": [0.3, 0.2], "duration": 0.01}
        for name in rng.choice(names, 2, replace=False):
            value = pick(rng, good[name])
            if name == "settings" and rng.random() < 0.5:
                value = Proximal(pick(rng, None), pick(rng, 2, None), pick(rng, 1e-8), pick(rng, "plain", share=0.3))
            given[name] = good[name] if callable(value) else value  # what a user's function raises is his
        run = simulate(pendulum, **given)
        assert run.status in ("finished", "diverged", "stopped") and len(run.times) == len(run.q) == len(run.v)
        assert np.isfinite(run.q).all() and np.isfinite(run.v).all()

    fuzz(500, 40, attempt)
    np.testing.assert_array_equal(simulate(pendulum, [0.3, 0.2], duration=0.01).q, expected.q)


def test_events(pendulum):
    def attempt(rng):
        found = pick(rng, None)
        event = Event(
            pick(rng, "touch", share=0.2),
            lambda t, q, v: q[0] if found is None else found,
            stops=pick(rng, True, False, share=0.2),
            direction=pick(rng, "both", "rising", "falling", share=0.2),
        )
        run = simulate(pendulum, [-0.01, 0.0], [1.0, 0.0], duration=0.02, events=pick(rng, [event], share=0.1))
        assert run.status in ("finished", "stopped")
        assert run.status == "finished" or abs(run.events[-1].q[0]) < 1e-6

    fuzz(400, 41, attempt)


PASSIVE = MJCF.replace('damping=".3"', 'damping=".3" stiffness="4" springref=".1" frictionloss=".1"').replace(
    '<body name="hand"', '<body name="hand" gravcomp="0.5"'
)


def test_damaged_mjcf(tmp_path):
    pytest.importorskip("mujoco")
    content, file = PASSIVE.encode(), tmp_path / "robot.xml"

    def attempt(rng):
        file.write_bytes(damaged_xml(content, rng, (*VALUES, b"hinge", b"torso")))
        moves(load_mjcf(file))

    fuzz(400, 42, attempt)
    file.write_bytes(content)
    assert load_mjcf(file).nv == 13 and load_mjcf(file).passive
