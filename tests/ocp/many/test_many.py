"""Many solves at once: the answers of single ones, bit by bit, whatever the threads; failures by their numbers."""

import pickle
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from support.ocp_problems import rest_to_rest, to_a_goal
from support.sanitizers import needs_own_memory
from trisweep.dynamics import ModelBuilder
from trisweep.native import core
from trisweep.ocp import Problem, ProblemError, Solutions
from trisweep.ocp.many import threads as many_threads
from trisweep.ocp.many.answers import Answers, room_for


@pytest.fixture(scope="module")
def to_a_target():
    """From rest at 0 to rest at a target with a limited acceleration: targets beyond 2 or so cannot be reached."""
    ocp = Problem(steps=20, step=0.1)
    x, u = ocp.state("x", 2), ocp.control("u", lower=-2, upper=2)
    target, wind = ocp.parameter("target"), ocp.parameter("wind", per_stage=True)
    ocp.derivative(x=ca.vertcat(x[1], u + wind - 0.1 * x[1] ** 3))
    ocp.minimize(u**2)
    ocp.constrain("start", x, equals=0, at="start")
    ocp.constrain("finish", x, equals=ca.vertcat(target, 0), at="end")
    return ocp.build()


@pytest.fixture(scope="module")
def turning():
    """A free body turns and moves: a state on a manifold, whose places are parameters of the stages."""
    builder = ModelBuilder("book")
    builder.add("body", joint="floating", mass=1.0, inertia=np.diag([0.1, 0.2, 0.3]))
    body = builder.build()
    ocp = Problem(steps=8, step=0.1)
    q, v = ocp.state("q", on=body), ocp.state("v", 6)
    f = ocp.control("f", 6)
    ocp.derivative(q=v, v=f)
    ocp.minimize(ca.sumsqr(f))
    goal = ocp.parameter("goal", 7)
    ocp.constrain("start", q, equals=body.neutral(), at="start")
    ocp.constrain("start at rest", v, equals=0, at="start")
    ocp.constrain("goal", q, equals=goal, at="end")
    return ocp.build(), np.array([body.normalise(np.r_[p, 0.3 * p[::-1], 1.0]) for p in np.eye(3)])


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_batch_gives_the_bits_of_single_solves(to_a_target, threads):
    rng = np.random.default_rng(3)
    targets, winds = rng.uniform(-1.5, 1.5, 9), rng.uniform(-0.2, 0.2, (9, 21, 1))
    many = to_a_target.solve_many(target=targets, wind=winds, threads=threads)
    assert many.solved.all() and len(many) == 9 and many.x.shape == (9, 21, 2) and many.u.shape == (9, 20, 1)
    for i, (target, wind) in enumerate(zip(targets, winds)):
        one = to_a_target.solve(target=target, wind=wind)
        assert (many.x[i] == one.x).all() and (many.u[i] == one.u).all() and (many[i].gains == one.gains).all()
        assert many[i].status == one.status and many.iterations[i] == one.statistics.iterations
        assert len(many[i].records) == len(one.records)
        assert many[i].check().worst < 1e-7


def test_the_judge_of_the_core_is_that_of_a_solution(to_a_target):
    targets = np.linspace(-1.2, 2.5, 12)
    many = to_a_target.solve_many(target=targets, wind=0)
    assert "infeasible" in many.counts
    for i, solution in enumerate(many):
        assert many.objectives[i] == pytest.approx(solution.objective, rel=1e-13)
        assert many.residuals[i] == pytest.approx(solution.residual.worst, rel=1e-9, abs=1e-15)
        assert many.statuses[i] == solution.status


def test_a_state_on_a_manifold(turning):
    solver, goals = turning
    many = solver.solve_many(goal=goals, threads=2)
    assert many.solved.all()
    for i, goal in enumerate(goals):
        assert (many.q[i] == solver.solve(goal=goal).q).all()
        assert abs(np.abs(many.q[i, -1, 3:] @ goal[3:]) - 1) < 1e-12


def test_one_infeasible_problem_is_a_status_of_its_own(to_a_target):
    many = to_a_target.solve_many(target=[0.5, 50.0, 1.0], wind=0)
    assert many.solved.tolist() == [True, False, True]
    assert many.statuses[1] == "infeasible"
    assert "2 of 3 problems solved" in str(many) and "infeasible       1: 1" in str(many)
    assert many[1].violations[0].name == "finish"


def test_guesses_and_warm_starts_of_each(to_a_target):
    targets = np.array([0.3, 0.6, 0.9])
    cold = to_a_target.solve_many(target=targets, wind=0)
    guess = {"x": np.linspace(0, 1, 21)[None, :, None] * np.stack([targets, 0 * targets], axis=-1)[:, None, :]}
    guessed = to_a_target.solve_many(guess, target=targets, wind=0)
    for i, target in enumerate(targets):
        assert (guessed.x[i] == to_a_target.solve({"x": guess["x"][i]}, target=target, wind=0).x).all()
    warm = to_a_target.solve_many(warm_start=cold, target=targets + 1e-3, wind=0)
    one = to_a_target.solve_many(warm_start=cold[1], target=targets + 1e-3, wind=0)
    assert warm.solved.all() and one.solved.all()
    assert warm.iterations.sum() < cold.iterations.sum()
    assert (warm.x[2] == to_a_target.solve(warm_start=cold[2], target=targets[2] + 1e-3, wind=0).x).all()


def test_wrong_rows_are_named_with_their_number(to_a_target):
    targets = np.linspace(0, 1, 10_000)
    targets[4711] = np.nan
    with pytest.raises(ProblemError, match="'target' of problem 4711 has an entry that is not finite"):
        to_a_target.solve_many(target=targets, wind=0)
    with pytest.raises(ProblemError, match=r"numbers of problems differ: 'target' 3, 'wind' 2"):
        to_a_target.solve_many(target=[1, 2, 3], wind=np.zeros((2, 21, 1)))
    with pytest.raises(ProblemError, match=r"'wind' has shape \(2, 20, 1\), expected \(problems, 21, 1\)"):
        to_a_target.solve_many(target=1, wind=np.zeros((2, 20, 1)))
    with pytest.raises(ProblemError, match="row 1 has 1 entries, row 0 2"):
        to_a_target.solve_many(target=[[1, 2], [1]], wind=0)
    with pytest.raises(ProblemError, match="nothing has a row for each problem"):
        to_a_target.solve_many(target=1, wind=0)
    with pytest.raises(ProblemError, match="threads is 0, expected a whole number"):
        to_a_target.solve_many(target=[1, 2], wind=0, threads=0)
    with pytest.raises(ProblemError, match="there is no parameter 'speed'"):
        to_a_target.solve_many(target=[1, 2], wind=0, speed=1)
    with pytest.raises(ProblemError, match="warm_start 0 is not a Solution of this problem"):
        to_a_target.solve_many(target=[1, 2], wind=0, warm_start=[rest_to_rest()[0].build().solve()] * 2)
    assert to_a_target.solve_many(target=[1.0, 0.5], wind=0).solved.all()


def test_another_back_end_says_so():
    ocp = to_a_goal()
    with pytest.raises(ProblemError, match="expected build"):
        ocp.build(backend="ipopt").solve_many(goal=np.zeros((2, 2)))


class Raising:
    """A display of progress that raises as soon as it is told of any."""

    def __init__(self, *_: object) -> None:
        self.finished = 0

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def advance(self, _: int) -> None:
        raise self.raised


@pytest.mark.parametrize("raised", [KeyboardInterrupt, OSError])
def test_an_interrupt_ends_a_batch_and_keeps_what_is_there(to_a_target, monkeypatch, raised):
    monkeypatch.setattr(many_threads, "Progress", type("Now", (Raising,), {"raised": raised("now")}))
    targets = np.linspace(0.1, 1, 5000)  # many times what is solved until the first look at the display
    if raised is KeyboardInterrupt:
        many = to_a_target.solve_many(target=targets, wind=0, threads=2)
        assert many.statuses[-1] == "interrupted" and np.isnan(many.x[-1]).all()
        assert many.solved[0] and many[0].solved
        with pytest.raises(ProblemError, match="problem 4999 was not begun"):
            many[-1]
        begun = many.answers.begun
        assert f"median {np.median(many.iterations[begun]):.3g}," in str(many) and not begun.all()
    else:
        with pytest.raises(OSError, match="now"):
            to_a_target.solve_many(target=targets, wind=0, threads=2)
    assert to_a_target.solve_many(target=[0.5, 0.7], wind=0, progress=False).solved.all()


def test_the_core_takes_no_rows_of_another_length(to_a_target):
    backend = to_a_target.backend
    shared, stage_parameters = np.zeros((1, 1)), np.zeros((1, 21))
    bounds = backend.bounds(to_a_target.limits.of_many(shared, stage_parameters))
    room = room_for(to_a_target.layout, 3)
    batch, rest = core.Batch(backend.structure), (room, core.Settings(), 1, None)
    with pytest.raises(ValueError, match="the guess has 2 rows, expected 1 or 3"):
        batch.solve(3, shared, stage_parameters, np.zeros((2, 62)), None, None, bounds, *rest)
    with pytest.raises(ValueError, match="entries, expected"):
        batch.solve(3, shared, stage_parameters, np.zeros((1, 61)), None, None, bounds, *rest)
    with pytest.raises(ValueError, match="entries, expected"):
        batch.solve(
            3, shared, stage_parameters, np.zeros((1, 62)), None, None, [b[:, :-1].copy() for b in bounds], *rest
        )
    with pytest.raises(ValueError, match="z_low, z_high, c_low, c_high"):
        batch.solve(3, shared, stage_parameters, np.zeros((1, 62)), None, None, bounds[:3], *rest)
    for name, other in {"z": room["z"][:2], "gains": room["gains"][:, 1:].copy(), "counts": np.empty((3, 3))}.items():
        with pytest.raises(ValueError, match=f"room for {name} has"):
            wrong = room | {name: other}
            batch.solve(3, shared, stage_parameters, np.zeros((1, 62)), None, None, bounds, wrong, *rest[1:])
    with pytest.raises(RuntimeError):  # numbers that would go into a copy
        wrong = room | {"z": np.empty((3, 124))[:, ::2]}
        batch.solve(3, shared, stage_parameters, np.zeros((1, 62)), None, None, bounds, wrong, *rest[1:])


@pytest.fixture(scope="module")
def from_anywhere():
    """Along a line and a turn from first values that come with the solve, in as much room as a parameter gives."""
    builder = ModelBuilder("wheel")
    builder.add("hub", joint="continuous", axis=(0, 0, 1), mass=1.0, inertia=np.eye(3))
    wheel = builder.build()
    ocp = Problem(steps=8, step=0.1)
    room = ocp.parameter("room", per_stage=True)
    most = ocp.parameter("most")
    x, q = ocp.state("x", 2, upper=ca.vertcat(room, np.inf)), ocp.state("q", on=wheel)
    u, turn = ocp.control("u", lower=-most, upper=most), ocp.control("turn")
    ocp.start("x", "q")
    ocp.derivative(x=ca.vertcat(x[1], u), q=turn)
    ocp.minimize(ca.sumsqr(x - 1) + 0.1 * u**2 + turn**2)
    ocp.constrain("gently", u * (1 + x[0] ** 2), upper=most)
    ocp.constrain("turned", q, equals=[0.0, 1.0], at="end")
    return ocp.build()


def test_first_values_and_limits_of_each(from_anywhere):
    rng = np.random.default_rng(5)
    first = rng.uniform(-0.5, 0.0, (6, 2))
    angles = rng.uniform(-1, 1, 6)
    turns = np.column_stack([np.cos(angles), np.sin(angles)])
    rooms, most = rng.uniform(0.3, 0.6, (6, 9, 1)), rng.uniform(2, 4, 6)
    many = from_anywhere.solve_many(start={"x": first, "q": turns}, room=rooms, most=most, threads=2)
    assert many.solved.all()
    for i in range(6):
        one = from_anywhere.solve(start={"x": first[i], "q": turns[i]}, room=rooms[i], most=most[i])
        assert (many.x[i] == one.x).all() and (many.q[i] == one.q).all()
        assert (many[i].limits["x"].upper == one.limits["x"].upper).all() and many[i].check().worst < 1e-7
        assert (many.x[i, 1:, 0] <= rooms[i, 1:, 0] + 1e-7).all()
    alike = from_anywhere.solve_many(start={"x": first[2], "q": turns}, room=0.5, most=3)
    one = from_anywhere.solve(start={"x": first[2], "q": turns[4]}, room=0.5, most=3)
    assert (alike.x[4] == one.x).all()
    warm = from_anywhere.solve_many(warm_start=many, start={"x": first, "q": turns}, room=rooms, most=most)
    assert warm.solved.all() and (warm.x[:, 0] == first).all()


def test_wrong_first_values_and_limits_are_named_with_their_number(from_anywhere):
    given = {"room": 0.5, "most": 3.0}
    first, turns = np.zeros((4, 2)), np.tile([1.0, 0.0], (4, 1))
    with pytest.raises(ProblemError, match=r"start of 'x' has shape \(4, 3\), expected \(problems, 2\)"):
        from_anywhere.solve_many(start={"x": np.zeros((4, 3)), "q": turns}, **given)
    first[2] = np.inf
    with pytest.raises(ProblemError, match="'start of x' of problem 2 has an entry that is not finite"):
        from_anywhere.solve_many(start={"x": first, "q": turns}, **given)
    turns[3] = 0
    with pytest.raises(ProblemError, match="problem 3: 'q' has zeros at entries 0 to 1, expected a unit pair"):
        from_anywhere.solve_many(start={"x": [0, 0], "q": turns}, **given)
    with pytest.raises(ProblemError, match="'q' has no first value"):
        from_anywhere.solve_many(start={"x": np.zeros((4, 2))}, **given)
    with pytest.raises(ProblemError, match="problem 1: limits of 'u': row 0 at stage 0 has lower 1 and upper -1"):
        from_anywhere.solve_many(start={"x": [0, 0], "q": [1, 0]}, room=0.5, most=[1, -1])


def test_a_file_has_it_all(to_a_target, tmp_path):
    many = to_a_target.solve_many(target=[0.5, 50.0, 1.0], wind=0)
    path = many.save(tmp_path / "sweep")
    assert path.name == "sweep.npz"
    read = Solutions.load(path, to_a_target)
    for part in fields(Answers):
        np.testing.assert_array_equal(getattr(read.answers, part.name), getattr(many.answers, part.name))
    assert str(read) == str(many) and read.statuses == many.statuses and (read.x == many.x).all()
    assert str(read[1]) == str(many[1]) and read[1].records == many[1].records
    bare = Solutions.load(path)
    assert bare.table() == many.table() and bare.table()[1]["status"] == "infeasible"
    for alone in (bare, pickle.loads(pickle.dumps(many))):
        assert (alone.x == many.x).all()
        with pytest.raises(ProblemError, match="problem 0: these solutions come from a file or another process"):
            alone[0]
    with pytest.raises(ProblemError, match="has solutions of another problem than the solver's"):
        Solutions.load(path, rest_to_rest()[0].build())


def test_files_that_are_none(to_a_target, tmp_path):
    many = to_a_target.solve_many(target=[0.5, 0.7], wind=0)
    path = many.save(tmp_path / "sweep.npz")
    whole = path.read_bytes()
    rng = np.random.default_rng(8)
    for _ in range(60):
        damaged = bytearray(whole)
        damaged[rng.integers(len(whole))] ^= 1 << rng.integers(8)
        path.write_bytes(bytes(damaged))
        try:
            read = Solutions.load(path)
        except ProblemError as error:
            assert "expected a file that Solutions.save wrote" in str(error) or "has version" in str(error)
        else:  # a bit that says nothing, such as a time in the table of contents
            assert (read.answers.z == many.answers.z).all()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ProblemError, match="is not solutions of many problems"):
        Solutions.load(path)
    with pytest.raises(ProblemError, match="there is no file"):
        Solutions.load(tmp_path / "nothing.npz")
    many[0].save(path)
    with pytest.raises(ProblemError, match="its parts are packed"):
        Solutions.load(path)


HELD = """
import sys
import numpy as np
from pathlib import Path
from trisweep.ocp import Problem
ocp = Problem(steps=30, step=0.1)
x, u = ocp.state("x", 6), ocp.control("u", 6)
target = ocp.parameter("target", 6)
ocp.derivative(x=u)
ocp.minimize((u - x).T @ (u - x))
ocp.constrain("finish", x, equals=target, at="end")
solver, targets = ocp.build(), np.random.default_rng(0).uniform(-1, 1, (150, 6))
held = lambda: int(Path("/proc/self/statm").read_text().split()[1])
for _ in range(4):
    solver.solve_many(target=targets, threads=2, progress=False)
before = held()
for _ in range(40):
    answers = solver.solve_many(target=targets, threads=2, progress=False)
returned = sum(part.nbytes for part in vars(answers.answers).values())
print((held() - before) * 4096, returned)
"""


@needs_own_memory
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this system does not say what a process holds")
def test_memory_grows_with_what_is_returned_alone():
    """Forty batches hold no more than the answers of a few: what is let go and what threads work with is used again."""
    said = subprocess.run([sys.executable, "-c", HELD], check=True, capture_output=True, text=True, timeout=120)
    grown, returned = map(int, said.stdout.split())
    assert returned > 1_000_000 and grown < 3 * returned


def test_a_picture(to_a_target, tmp_path):
    figure = to_a_target.solve_many(target=[0.5, 50.0], wind=0).plot(tmp_path / "sweep.png")
    assert (tmp_path / "sweep.png").stat().st_size > 5000 and len(figure.axes) == 2
