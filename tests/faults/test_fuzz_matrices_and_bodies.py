"""Riccati problems and dynamics of junk: a sentence, a status, or an answer that an oracle confirms."""

import warnings

import numpy as np
import pytest
from support.junk import fuzz, junk
from trisweep.dynamics import ModelBuilder
from trisweep.problems.robot import robot
from trisweep.riccati import LQProblem, Stage, dense
from trisweep.riccati.random_problems import random_problem

JUNK = [value for value in junk() if "casadi" not in type(value).__module__]


def pick(rng):
    return JUNK[int(rng.integers(len(JUNK)))]


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def test_linear_quadratic_problems_with_a_field_of_junk():
    names = ("Q", "q", "R", "S", "r", "Gx", "Gu", "g", "parent", "A", "B", "b")

    def attempt(rng):
        edge = {"parent": 0, "A": np.eye(2), "B": np.ones((2, 1)), "b": np.zeros(2)}
        root = {"Q": np.eye(2), "q": np.ones(2), "R": np.eye(1), "r": np.zeros(1)}
        stages = [dict(root), {"Q": np.eye(2), "q": np.zeros(2)} | edge]
        for _ in range(int(rng.integers(1, 3))):
            stages[int(rng.integers(2))][names[int(rng.integers(len(names)))]] = pick(rng)
        state = pick(rng) if rng.random() < 0.3 else [1.0, -1.0]
        problem = LQProblem([Stage(**each) for each in stages], state)
        solution = problem.solve()
        if solution.status == "solved":
            assert dense.solve(problem).status == "solved"

    fuzz(1000, 8, attempt)


def test_linear_quadratic_problems_of_wild_numbers():
    """Scales from 1e-300 to 1e300, and NaN: never a false "solved"."""

    def attempt(rng):
        problem = random_problem(int(rng.integers(10**6)))
        scale = 10.0 ** rng.integers(-300, 300) if rng.random() < 0.7 else [np.nan, np.inf, 0.0][int(rng.integers(3))]
        k = int(rng.integers(len(problem.stages)))
        stages = list(problem.stages)
        from dataclasses import replace

        name = ("Q", "q", "R", "r", "Gx", "g")[int(rng.integers(6))]
        stages[k] = replace(stages[k], **{name: getattr(stages[k], name) * scale})
        solution = LQProblem(stages, problem.initial_state).solve()
        if solution.status == "solved":
            assert solution.residual <= 1e-9

    fuzz(500, 9, attempt)


def test_dynamics_of_junk():
    arm = robot("iiwa14")
    verbs = (
        "forward_dynamics",
        "inverse_dynamics",
        "mass_matrix",
        "integrate",
        "link_pose",
        "kinetic_energy",
        "delassus",
    )
    good = np.linspace(-0.5, 0.5, 7)

    def attempt(rng):
        verb = verbs[int(rng.integers(len(verbs)))]
        count = {"mass_matrix": 1, "integrate": 2, "kinetic_energy": 2}.get(verb, 3)
        given = [pick(rng) if rng.random() < 0.5 else good for _ in range(count)]
        if verb in ("link_pose", "delassus"):
            given = [given[0], pick(rng) if verb == "link_pose" else [pick(rng)]]
        found = getattr(arm, verb)(*given)
        if not hasattr(found, "is_constant"):
            for part in found if isinstance(found, tuple) else [found]:
                assert np.isfinite(np.array(part, dtype=float)).all()

    fuzz(1000, 10, attempt)
    np.testing.assert_allclose(
        arm.forward_dynamics(good, good, arm.inverse_dynamics(good, good, good)), good, atol=1e-9
    )


def test_bodies_of_junk():
    def attempt(rng):
        builder = ModelBuilder("junk", *([pick(rng)] if rng.random() < 0.2 else []))
        given = {"mass": 1.0, "inertia": np.eye(3)}
        given[("mass", "inertia", "com")[int(rng.integers(3))]] = pick(rng)
        builder.add(
            pick(rng) if rng.random() < 0.2 else "link", joint=pick(rng) if rng.random() < 0.3 else "revolute", **given
        )
        model = builder.build()
        a = model.forward_dynamics(model.neutral(), np.zeros(model.nv), np.ones(model.nv))
        assert np.isfinite(a).all()

    fuzz(500, 11, attempt)
