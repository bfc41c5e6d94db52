"""What travels to another process: statements, solvers with their machine code, robots, solutions."""

import copy
import gc
import os
import pickle
import subprocess
import sys
import weakref

import casadi as ca
import numpy as np
import pytest
import trisweep as ts
from support.ocp_problems import dive, diver, rest_to_rest
from trisweep import adjoint
from trisweep.native import compile_function
from trisweep.native.compiler import compiler
from trisweep.ocp import Problem, ProblemError, Solution
from trisweep.ocp.stages import functions
from trisweep.ocp.stages.recursive_stage import RecursiveStage


def again(thing):
    return pickle.loads(pickle.dumps(thing))


def held_links(method, integrator="euler"):
    """A two-link arm, a row of whose lower link is held."""
    builder = ts.ModelBuilder("arm")
    part = dict(joint="revolute", axis=(0, 1, 0), mass=1.0, com=(0, 0, -0.25), inertia=0.02 * np.eye(3))
    builder.add("upper", **part)
    builder.add("lower", "upper", position=(0, 0, -0.5), **part)
    model = builder.build()
    ocp = Problem(steps=4, step=0.02, integrator=integrator)
    q, v, tau = ocp.state("q", on=model), ocp.state("v", 2), ocp.control("tau", 2)
    row = ts.Constraint("lower", np.eye(6)[[3]], period=0.2)
    a, forces = model.forward_dynamics(q, v, tau, [row], method=method)
    ocp.derivative(q=v, v=a)
    ocp.minimize(ts.sumsqr(tau) + 1e-3 * ts.sumsqr(forces[0]))
    ocp.constrain("start", q, equals=[0.3, 0.2], at="start")
    ocp.constrain("at rest", v, equals=0, at="start")
    return ocp


def two_phases():
    """Time is chosen, limits and a gate come with the solve, first values too."""
    pull = Problem(steps=10, duration=ts.Free(1.0, 0.2, 3.0), name="pull")
    gate, most = pull.parameter("gate"), pull.parameter("most")
    x, u = pull.state("x", 2), pull.control("u", lower=-most, upper=most)
    pull.start("x")
    pull.derivative(x=ca.vertcat(x[1], u))
    pull.minimize(0.05 * u**2 + 0.1 * pull.time_step)
    pull.constrain("gate", x[0], equals=gate, at="end")
    coast = Problem(steps=5, step=0.1, name="coast")
    y = coast.state("x", 2)
    coast.derivative(x=ca.vertcat(y[1], -0.1 * y[1]))
    coast.constrain("slow", y[1], upper=1.0, at="end")
    pull.then(coast, x=0.9 * x)
    return pull


STATEMENTS = {
    "plain": (lambda: rest_to_rest()[0], {}),
    "held by a row, the cheaper of two methods, rk4": (lambda: held_links(None, "rk4"), {}),
    "held by a row, proximal": (lambda: held_links("prox-ltl"), {}),
    "implicit steps over nodes": (lambda: held_links("pv", "implicit midpoint"), {}),
    "phases, limits, first values": (two_phases, {"gate": 1.0, "most": 3.0, "start": {"x": [0.0, 0.0]}}),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements_and_solvers_give_the_same_bits_on_the_other_side(name):
    state, given = STATEMENTS[name]
    ocp = state()
    restated = again(ocp)
    assert [v.name for v in restated.carried] == [v.name for v in ocp.carried] and restated is not ocp
    solver = ocp.build()
    one = solver.solve(**given)
    for other in (again(solver), restated.build()):
        there = other.solve(**given)
        assert there.status == one.status and (there.point.z == one.point.z).all()
        assert there.layout == one.layout
        assert there.check().worst == pytest.approx(one.check().worst, rel=1e-3, abs=1e-12)


def test_what_was_left_open_can_be_said_on_the_other_side():
    ocp = Problem(steps=20, step=0.1)
    x, u = ocp.state("x", 2), ocp.control("u", lower=-1, upper=1)
    ocp.derivative(x=ca.vertcat(x[1], u))
    other = again(ocp)
    (state,), (control,) = other.states, other.controls
    other.minimize(control.symbol**2)
    other.constrain("start", state.value, equals=[1, 0], at="start")
    other.constrain("finish", state.value, equals=[0.9, 0], at="end")
    assert other.build().solve().solved
    assert not ocp.terms


def test_a_phase_brings_all_of_its_motion():
    pull = two_phases()
    coast = again(pull.links[0].phase)
    assert coast.name == "coast" and coast.follows.name == "pull" and coast.follows.links[0].phase is coast


def test_robots_for_the_recursions_of_the_core_travel_as_tables(monkeypatch):
    monkeypatch.setattr(functions, "MANY_UNKNOWNS", 1)
    solver = dive(diver(), steps=4).build()
    other = again(solver)
    assert any(isinstance(each, RecursiveStage) for each in other.backend.functions)
    assert (other.solve().point.z == solver.solve().point.z).all()


def test_another_processor_compiles_anew(monkeypatch):
    x = ca.SX.sym("x", 3)
    function = compile_function(ca.Function("f", [x], [ca.sin(x), ca.sumsqr(x)]))
    given = np.linspace(0, 1, 12).reshape(4, 3)
    packed = pickle.dumps(function)
    monkeypatch.setattr(compiler, "_identity", lambda: "another processor")
    built = []
    monkeypatch.setattr(compiler, "_build", lambda *args, build=compiler._build: built.append(1) or build(*args))
    monkeypatch.setenv("TRISWEEP_CACHE", "off")
    other = pickle.loads(packed)
    assert built and all((a == b).all() for a, b in zip(function.batch(given), other.batch(given)))
    monkeypatch.undo()
    monkeypatch.setattr(compiler, "_build", None)
    assert (pickle.loads(packed).batch(given)[0] == function.batch(given)[0]).all()


def test_a_node_that_only_this_process_can_solve_is_refused():
    ocp = Problem(steps=3, step=0.1)
    x, y = ocp.state("x"), ca.SX.sym("y")
    adjoint.implicit("root", y, y * y - x, lambda: ca.sqrt(x), sources=x)
    ocp.derivative(x=y)
    with pytest.raises(ProblemError, match=r"problem 'motion' rests on something that does not pickle .*lambda"):
        pickle.dumps(ocp)
    ocp = Problem(steps=3, step=0.1)
    x, y = ocp.state("x"), ca.SX.sym("y")
    adjoint.implicit("root", y, y * y - x, ca.sqrt(x))
    ocp.derivative(x=y)
    ocp.minimize((x - 2) ** 2, at="end")
    ocp.constrain("start", x, equals=1, at="start")
    assert (again(ocp).build().solve().x == ocp.build().solve().x).all()


def test_solutions_travel_without_their_solver():
    solution = rest_to_rest()[0].build().solve()
    other = again(solution)
    assert isinstance(other, Solution) and (other.x == solution.x).all() and str(other) == str(solution)
    assert (other.multipliers["finish"] == solution.multipliers["finish"]).all()
    with pytest.raises(ProblemError, match="check: this solution comes from"):
        other.check()


def test_other_back_ends_travel_as_statements():
    solver = rest_to_rest()[0].build(backend="ipopt")
    assert again(solver).solve().objective == pytest.approx(solver.solve().objective, rel=1e-9)


SOLVE = """
import pickle, sys, numpy
solver, guess, parameters = pickle.load(open(sys.argv[1], "rb"))
numpy.save(sys.argv[2], solver.solve(guess, **parameters).point.z)
"""


def test_a_fresh_process_without_a_cache_solves_to_the_same_bits(tmp_path):
    task = ts.task("iiwa_reach")
    solver = task.build()
    (tmp_path / "solver").write_bytes(pickle.dumps((solver, task.guess, task.parameters)))
    files = [str(tmp_path / "solver"), str(tmp_path / "z.npy")]
    environment = os.environ | {"TRISWEEP_CACHE": "off"}
    subprocess.run([sys.executable, "-c", SOLVE, *files], env=environment, check=True, timeout=120)
    assert (np.load(files[1]) == solver.solve(task.guess, **task.parameters).point.z).all()


@pytest.mark.parametrize("integrator", ["euler", "rk4", "implicit midpoint"])
def test_nodes_go_with_the_problem_and_what_was_made_of_it(integrator):
    problem = held_links("pv", integrator)
    solver = problem.build()
    copy = again(problem)
    blocks = solver.transcription.blocks
    nodes = [node for holder in (problem, copy, *blocks) for node in holder.nodes]
    nodes = [weakref.ref(each) for node in nodes for each in (node, *node.inner)]
    solution = solver.solve()
    del problem, copy, blocks, solver
    gc.collect()
    assert any(node() is not None for node in nodes)  # the solution has its problem
    assert solution.solved
    del solution
    gc.collect()
    assert [node() for node in nodes] == [None] * len(nodes)


def test_commands_compiled_models_and_programs_travel_too():
    from trisweep.riccati import QP, Stage, StageLimits

    ocp = Problem(steps=3, step=0.1)
    x, u = ocp.state("x"), ocp.control("u")
    ocp.next(x=x + u)
    ocp.minimize(x**2 + u**2)
    ocp.start("x")
    command = ocp.build().controller().step({"x": 1.0})
    for copied in (again(command), copy.copy(command), copy.deepcopy(command)):
        assert str(copied) == str(command) and np.array_equal(copied.u, command.u)
    builder = ts.ModelBuilder("arm")
    model = builder.add("bob", joint="revolute", mass=1.0, com=(0.2, 0, 0), inertia=0.1 * np.eye(3)).build()
    state = [0.1], [0.2], [0.3]
    expected = model.compiled.forward_dynamics(*state)
    assert np.array_equal(again(model.compiled).forward_dynamics(*state), expected)
    stages = [Stage(Q=np.eye(1), q=[1.0], R=np.eye(1), r=[0.0])]
    stages.append(Stage(Q=np.eye(1), q=[-1.0], parent=0, A=np.eye(1), B=np.eye(1), b=[0.0]))
    program = QP(stages, StageLimits(u_upper=0.1), [1.0])
    solved = program.solve(initial_state=[2.0])
    assert np.array_equal(again(program).solve().x, solved.x) and np.array_equal(again(solved).x, solved.x)
