"""What is asked of robots, and put on them, of junk: a sentence, or finite numbers."""

import numpy as np
import pytest
import trisweep as ts
from support.junk import fuzz, moves, picker

pytestmark = pytest.mark.usefixtures("quiet")
pick = picker()


def pendulum():
    builder = ts.ModelBuilder("pendulum")
    return builder.add("bob", joint="revolute", mass=1.0, com=(0.2, 0, 0), inertia=0.1 * np.eye(3))


@pytest.fixture(scope="module")
def arm():
    return pendulum().build()


def test_verbs(arm):
    """Those that test_fuzz_matrices_and_bodies has not."""

    def attempt(rng):
        q, v, link = pick(rng, [0.1], share=0.3), pick(rng, [0.2], share=0.3), pick(rng, "bob", share=0.3)
        other, name = pick(rng), str(pick(rng, "bob", share=0.3))
        found = [
            lambda: arm.centre_of_mass(q),
            lambda: arm.choose_method(other),
            lambda: arm.delassus(q, [ts.weld(link)], pick(rng, None)),
            lambda: arm.difference(q, other),
            lambda: arm.distances(q, other),
            lambda: arm.forward_dynamics(q, v, other, [ts.point(link, pick(rng, (0, 0, 0)))]),
            lambda: arm.frame(other),
            lambda: arm.impact(q, v, [ts.point(link)])[0],
            lambda: arm.inverse_mass_matrix(other),
            lambda: arm.link_acceleration(q, v, other, link),
            lambda: arm.link_jacobian(q, link),
            lambda: arm.link_velocity(q, v, link),
            lambda: arm.lock(other),
            lambda: arm.lock({name: other}),
            lambda: arm.momentum(q, v),
            lambda: arm.momentum_rate(q, v, other),
            lambda: arm.normalise(other),
            lambda: arm.passive_forces(q, v),
            lambda: arm.potential_energy(q),
            lambda: arm.proximal_dynamics(q, v, [0.0], [ts.weld(link)], other),
            lambda: arm.random_configuration(other),
            lambda: arm.standing_torques(q, [ts.point(link)]),
            lambda: arm.with_passive(other),
            lambda: arm.with_payload(link, other, pick(rng, (0, 0, 0))),
        ][int(rng.integers(24))]()
        if isinstance(found, np.ndarray):
            assert np.isfinite(found).all()

    fuzz(1200, 80, attempt)


def test_constraints(arm):
    good = {"link": "bob", "position": (0, 0, 0), "target": None, "acceleration": 0.0, "period": 0.1, "other": None}

    def attempt(rng):
        given = dict(good, softness=1e-6)
        for name in rng.choice(list(given), int(rng.integers(1, 3)), replace=False):
            given[name] = pick(rng)
        row = ts.point(**given) if rng.random() < 0.5 else ts.weld(rpy=pick(rng, (0, 0, 0), share=0.2), **given)
        found = arm.forward_dynamics([0.1], [0.0], [0.0], [row])
        assert not isinstance(found[0], np.ndarray) or np.isfinite(found[0]).all()

    fuzz(1000, 81, attempt)


def test_parts_of_a_builder(arm):
    def attempt(rng):
        builder = pendulum()
        match int(rng.integers(4)):
            case 0:
                builder.attach(pick(rng, arm), pick(rng, "bob"), *(pick(rng, each) for each in ("a", (0, 0, 0))))
            case 1:
                builder.frame(pick(rng, "tool"), pick(rng, "bob"), pick(rng, (0, 0, 0)))
            case 2:
                builder.shape(pick(rng))
            case _:
                builder.collision_shape(pick(rng))
        moves(builder.build())

    fuzz(400, 82, attempt)


def test_names_of_what_is_ready():
    def attempt(rng):
        (ts.robot if rng.random() < 0.5 else ts.task)(pick(rng))

    fuzz(200, 83, attempt)
