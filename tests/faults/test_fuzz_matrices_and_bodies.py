"""Riccati problems and dynamics of junk: a sentence, a status, or an answer that an oracle confirms."""

from dataclasses import replace

import numpy as np
import pytest
from support.junk import fuzz, picker
from trisweep.dynamics import ModelBuilder, weld
from trisweep.problems.robot import robot
from trisweep.riccati import QP, LQProblem, ProblemError, Stage, StageLimits, dense
from trisweep.riccati.random_problems import random_problem

pytestmark = pytest.mark.usefixtures("quiet")
pick = picker(symbols=False)


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
        name = ("Q", "q", "R", "r", "Gx", "g")[int(rng.integers(6))]
        stages[k] = replace(stages[k], **{name: getattr(stages[k], name) * scale})
        solution = LQProblem(stages, problem.initial_state).solve()
        if solution.status == "solved":
            assert solution.residual <= 1e-9

    fuzz(500, 9, attempt)


def small_program(rng, **junk_in):
    """Two stages, a limit on each thing there is; junk in the places that are named."""
    edge = {"parent": 0, "A": np.eye(2), "B": np.ones((2, 1)), "b": np.zeros(2)}
    stages = [
        {"Q": np.eye(2), "q": np.ones(2), "R": np.eye(1), "r": np.zeros(1)},
        {"Q": np.eye(2), "q": -np.ones(2)} | edge,
    ]
    limits = {"x_lower": -2.0, "x_upper": [1.0, 3.0], "Cx": [[1.0, 1.0]], "lower": [-4.0], "upper": [4.0]}
    for name, value in junk_in.items():
        if name in limits or name in ("u_lower", "u_upper", "Cu"):
            limits[name] = value
        else:
            stages[int(rng.integers(2))][name] = value
    return QP([Stage(**each) for each in stages], StageLimits(**limits), None)


def optimal(program, solution):
    """Feasible, and no worse than points all about it: by arithmetic of our own."""
    x, u = solution.x, solution.u
    s = program.problem.stages

    def value(u0, x0):
        x1 = s[1].A @ x0 + s[1].B @ u0 + s[1].b
        points = [x0, x1]
        inside = all(
            (rows.x[0] - 1e-6 <= p).all() and (p <= rows.x[1] + 1e-6).all()
            and (rows.c[0] - 1e-6 <= rows.Cx @ p).all() and (rows.Cx @ p <= rows.c[1] + 1e-6).all()
            for rows, p in zip(program._limits, points)
        )  # fmt: skip
        inside &= bool((program._limits[0].u[0] - 1e-6 <= u0).all() and (u0 <= program._limits[0].u[1] + 1e-6).all())
        return program.problem.objective(points, [u0, np.zeros(s[1].nu)]) if inside else np.inf

    found = value(u[0], x[0])
    assert np.isfinite(found), "outside of its limits"
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1e-1, 1.0):
        for _ in range(20):
            assert found <= value(u[0] + scale * rng.standard_normal(1), x[0] + scale * rng.standard_normal(2)) + 1e-5


def test_quadratic_programs_with_a_field_of_junk():
    names = ("Q", "q", "R", "S", "r", "A", "B", "b", "x_lower", "x_upper", "u_lower", "u_upper", "Cx", "Cu", "lower")

    def attempt(rng):
        spoilt = {names[int(rng.integers(len(names)))]: pick(rng) for _ in range(int(rng.integers(1, 3)))}
        program = small_program(rng, **spoilt)
        more = {"tolerance": 1e-8, "iterations": 200, "seconds": np.inf, "warm_start": None, "initial_state": None}
        if rng.random() < 0.4:
            more[list(more)[int(rng.integers(len(more)))]] = pick(rng)
        solution = program.solve(**more)
        if solution.status == "solved" and more["tolerance"] == 1e-8:
            optimal(program, solution)

    fuzz(1000, 12, attempt)


def test_a_quadratic_program_is_as_good_as_new_after_every_failure():
    """Infeasible, unbounded, out of iterations or time, refused: the next solve is the first one again."""
    rng = np.random.default_rng(13)
    stages = [Stage(Q=np.eye(2), q=np.ones(2), R=np.eye(1), r=np.zeros(1))]
    stages.append(Stage(Q=np.eye(2), q=-np.ones(2), parent=0, A=np.eye(2), B=np.ones((2, 1)), b=np.zeros(2)))
    program = QP(stages, StageLimits(x_upper=3.0, u_lower=-1.0, u_upper=1.0), [1.0, -1.0])
    whole = program.solve()
    assert whole.status == "solved"

    def same():
        again = program.solve(initial_state=[1.0, -1.0])
        assert again.status == "solved" and all(map(np.array_equal, again.x, whole.x))
        assert all(map(np.array_equal, again.costates, whole.costates))

    assert program.solve(initial_state=[50.0, 50.0]).status == "infeasible"
    same()
    assert program.solve(iterations=0).status == "iteration limit"
    same()
    assert program.solve(seconds=1e-9).status in ("time limit", "solved")
    same()
    for wild in (1e200, 1e308, -1e300):
        assert program.solve(initial_state=[wild, wild]).status != "solved"
        same()
    for wrong in ([np.nan, 0.0], [np.inf, 0.0], [1.0], "a", None):
        if wrong is not None:
            with pytest.raises(ProblemError):
                program.solve(initial_state=wrong)
        same()
    for field in ("x", "u", "multipliers", "x_multipliers", "costates"):
        for spoilt in (np.nan, np.inf, -1e300, 1e300):
            start = replace(
                whole,
                **{field: [np.where(rng.random(part.shape) < 0.5, spoilt, part) for part in getattr(whole, field)]},
            )
            try:
                answer = program.solve(warm_start=start)
                assert answer.status != "solved" or np.allclose(answer.x[1], whole.x[1], atol=1e-6)
            except ProblemError:
                pass
            same()


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


def test_machine_code_called_with_junk():
    arm = robot("iiwa14")
    compiled, good = arm.compiled, np.linspace(-0.5, 0.8, 7)
    square, flange = np.zeros((7, 7)), [weld("iiwa_flange", period=None)]
    calls = (  # with how many arrays, what else, and the shapes of `out`
        ("mass_matrix", 1, (), square),
        ("inverse_dynamics", 3, (), np.zeros(7)),
        ("forward_dynamics", 3, (), np.zeros(7)),
        ("forward_dynamics", 3, (flange,), [np.zeros(7), np.zeros(6)]),
        ("forward_dynamics", 3, (flange, "prox-ltl"), [np.zeros(7), np.zeros(6)]),
        ("forward_dynamics", 3, (flange, "riccati"), [np.zeros(7), np.zeros(6)]),
        ("inverse_dynamics_slopes", 3, (), [square] * 3),
        ("forward_dynamics_slopes", 3, (flange,), [square] * 3 + [np.zeros((6, 7))] * 3),
        ("delassus", 1, (flange,), np.zeros((6, 6))),
        ("link_pose", 1, ("iiwa_flange",), [np.zeros((3, 3)), np.zeros(3)]),
    )
    for verb, count, rest, _ in calls:
        getattr(compiled, verb)(*[good] * count, *rest)

    def attempt(rng):
        verb, count, rest, out = calls[int(rng.integers(len(calls)))]
        given = [pick(rng, good, np.stack([good] * 3), share=0.15) for _ in range(count)]
        further = [pick(rng, each, share=0.15) for each in rest]
        into = pick(rng, None, out, share=0.2)
        if isinstance(into, list) and rng.random() < 0.7:  # some of them, more of them, others among them
            into = [pick(rng, *into, share=0.1) for _ in range(int(rng.integers(len(into) + 3)))]
        words = {"external": pick(rng, {"iiwa_flange": good[:6]})} if verb == "inverse_dynamics" else {}
        found = getattr(compiled, verb)(*given, *further, **words, out=into)
        for part in flat(found):
            assert np.isfinite(part).all()

    def flat(found):
        return [part for each in found for part in flat(each)] if isinstance(found, tuple) else [found]

    fuzz(2000, 31, attempt)
    np.testing.assert_allclose(
        compiled.forward_dynamics(good, good, compiled.inverse_dynamics(good, good, good)), good, atol=1e-9
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
