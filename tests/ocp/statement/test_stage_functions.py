"""Stages by recursions over bodies against the same stages compiled whole: one statement, two ways to its numbers."""

from dataclasses import replace

import numpy as np
import pytest
import trisweep as ts
from support.ocp_problems import dive, diver
from trisweep.ocp.stages import functions
from trisweep.ocp.stages.functions import CompiledStage, stage_functions
from trisweep.ocp.stages.recursive_stage import RecursiveStage
from trisweep.ocp.stages.transcription import transcribe
from trisweep.problems.mechanisms.workshop import Workshop


def held_by_the_arms(free=False):
    """A point that holds a place, one that does not, rows on a wheel; forces in cost and constraints, perhaps time."""
    model = diver()
    time = {"duration": ts.Free(0.3, 0.1, 0.5)} if free else {"step": 0.02}
    ocp = ts.Problem(steps=5, integrator="semi-implicit euler", **time)
    q, v = ocp.state("q", on=model), ocp.state("v", model.nv)
    tau, pull = ocp.control("tau", 7), ocp.parameter("pull")
    hands = [ts.point("arml", (0.0, 0.0, -0.3), target=[0.1, 0.2, 0.0]), ts.point("armr", (0.0, 0.1, -0.3))]
    held = [*hands, ts.Constraint("wheel", np.eye(6)[[0, 4]], period=0.2)]
    a, forces = model.forward_dynamics(q, v, ts.vertcat(np.zeros(6), tau), held, method="ltl")
    ocp.derivative(q=v, v=a)
    ocp.minimize(ts.sumsqr(tau) + 1e-2 * ts.sumsqr(a) + pull * ts.sumsqr(forces[0]) * forces[1][2])
    ocp.constrain("grip", model.link_pose(q, "armr")[0] @ forces[1], lower=0)
    ocp.constrain("still", forces[2] * v[:2], equals=0)
    return ocp


def paddle(integrator):
    """A body that floats, with one oar."""
    body = ts.ModelBuilder("paddler")
    body.add("boat", joint="floating", mass=2.0, com=(0.1, 0, 0.1), inertia=np.diag([0.4, 0.5, 0.1]))
    body.add("oar", "boat", "revolute", axis=(1, 2, 0), position=(0, 0, 0.2), mass=0.5, com=(0, 0, -0.3),
             inertia=0.02 * np.eye(3))  # fmt: skip
    model = body.build()
    ocp = ts.Problem(steps=4, step=0.1, integrator=integrator)
    q, v, tau = ocp.state("q", on=model), ocp.state("v", model.nv), ocp.control("tau")
    a = model.forward_dynamics(q, v, ts.vertcat(np.zeros(6), tau))
    ocp.derivative(q=v, v=a)
    ocp.minimize(ts.sumsqr(tau) + 1e-2 * ts.sumsqr(a))
    return ocp


def looped(mechanism, integrator="semi-implicit euler", forces_count=True):
    """A mechanism with closed loops: accelerations, and forces where all rows are independent."""
    model, rows = mechanism.model, [replace(row, period=0.2) for row in mechanism.constraints]
    ocp = ts.Problem(steps=3, step=0.02, integrator=integrator)
    q, v, tau = ocp.state("q", on=model), ocp.state("v", model.nv), ocp.control("tau", model.nv)
    a, forces = model.forward_dynamics(q, v, tau, rows)
    ocp.derivative(q=v, v=a)
    felt = ts.sumsqr(forces[0]) * forces[-1][0] if forces_count else 0.0
    ocp.minimize(ts.sumsqr(tau) + 1e-2 * ts.sumsqr(a) * (1 + v[0]) + 1e-3 * felt)
    return ocp


def hanging_loop():
    """Two chains of three on a floating body, tips welded, one of them pinned to the ground, the loop named first."""
    shop = Workshop("hanging loop")
    shop.add("base", joint="floating")
    for side, y in (("left", 0.1), ("right", -0.1)):
        parent = "base"
        for i, axis in enumerate(((1, 0.2, 0), (0, 1, 0.3), (0.1, 0, 1), (0.3, 1, 0))):
            parent = shop.add(f"{side} {i}", parent, axis=axis, position=(0.1, y if i == 0 else 0.02, 0.05))
    shop.close("left 3", "right 3", "weld", (0.1, 0, 0))
    shop.close("right 2", None, "point", (0.1, 0, 0))
    return shop.finish([0, 0, 0, 0, 0, 0, 1, 0.3, 0.2, -0.4, 0.5, 0.1, -0.3, 0.6, 0.2])


def loop_with_a_ball():
    """A rod on a ball closes a loop over three hinges of a floating body."""
    shop = Workshop("ball in a loop")
    shop.add("base", joint="floating")
    shop.add("rod", "base", joint="spherical", position=(-0.04, 0.02, -0.02))
    parent = "base"
    for i, axis in enumerate(((0, 1, 0), (0, 1, 0.3), (0.1, 0, 1))):
        parent = shop.add(f"hinge {i}", parent, axis=axis, position=(0.1, 0.02, 0.05))
    shop.close("rod", parent, "point", (0.1, 0, 0))
    return shop.finish([0, 0, 0, 0, 0, 0, 1, 0.1, 0.2, 0.2, 0.9539392014169457, 0.3, 0.6, 0.9])


def planar_loop():
    """A crank and a rocker whose tips are pinned in space: one of three rows says nothing."""
    shop = Workshop("planar loop")
    for side, x in (("left", 0.0), ("right", 0.5)):
        shop.add(f"{side} crank", position=(x, 0, 0))
        shop.add(f"{side} rod", f"{side} crank", position=(0.2, 0, 0))
    shop.close("left rod", "right rod", "point", (0.2, 0, 0))
    return shop.finish([-1.2, 0.9, -2.0, 0.4])


CASES = {
    "loop": lambda: looped(hanging_loop()),
    "planar loop, rows depend": lambda: looped(planar_loop()),
    "loop with a ball": lambda: looped(loop_with_a_ball()),
    "planar loop, rk4": lambda: looped(planar_loop(), "rk4"),
    "held": held_by_the_arms,
    "held, free duration": lambda: held_by_the_arms(free=True),
    "paddle, rk4": lambda: paddle("rk4"),
    "paddle, euler": lambda: paddle("euler"),
}


def both_ways(monkeypatch, transcription, block, hessian):
    found = []
    for many in (1, 10**6):
        monkeypatch.setattr(functions, "MANY_UNKNOWNS", many)
        found.append(stage_functions(transcription, block, hessian))
    assert isinstance(found[0], RecursiveStage) and isinstance(found[1], CompiledStage)
    return found


def numbers_for(block, count, seed=0):
    """Inputs at zero increments, with anchors of norm 1, the child's near the stage's own."""
    random = np.random.default_rng(seed)
    inputs = [random.standard_normal((count, part.numel())) for part in block.inputs]
    u, x, shared, own, following = inputs
    at, anchor = 0, own.shape[1] - sum(v.manifold.anchors for v in block.phase.states)
    following[:] = own + 0.01 * random.standard_normal(own.shape)
    for v in block.phase.states:
        manifold = v.manifold
        for k, (start, stop) in enumerate(manifold.units):
            x[:, at + start - k : at + stop - k - 1] = 0
            for row in (own, following):
                part = row[:, anchor : anchor + stop - start]
                part /= np.linalg.norm(part, axis=1, keepdims=True)
            anchor += stop - start
        at += manifold.dimension
    return [u, x, shared[:1], own, following], random.standard_normal((count, block.rows.numel()))


def dense(places, nonzeros, shape):
    found = np.zeros((len(nonzeros), *shape))
    found[:, places[0], places[1]] = nonzeros
    return found


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("hessian", ["exact", "gauss-newton", "no-dynamics"])
def test_recursive_and_compiled_stages_agree(name, hessian, monkeypatch):
    if hessian != "exact" and name != "held":
        pytest.skip("one case is enough")
    transcription = transcribe(CASES[name]())
    block = transcription.blocks[0]
    recursive, compiled = both_ways(monkeypatch, transcription, block, hessian)
    inputs, weights = numbers_for(block, 50 if "loop" in name else 7)
    rows, expected = recursive.values(inputs), compiled.values(inputs)
    np.testing.assert_allclose(rows, expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())
    moved = [inputs[0], inputs[1] + 0.1, *inputs[2:]]  # as in a line search, away from the anchors
    expected = compiled.values(moved)
    np.testing.assert_allclose(recursive.values(moved), expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())
    size = sum(part.numel() for part in block.inputs[:2])
    ours, theirs = (each.derivatives(inputs, weights) for each in (recursive, compiled))
    for i, shape in enumerate([(weights.shape[1], size), (size, size)]):
        places = [(each.jacobian_places, each.hessian_places)[i] for each in (recursive, compiled)]
        found, expected = dense(places[0], ours[i], shape), dense(places[1], theirs[i], shape)
        for n in range(len(weights)):
            assert np.abs(found[n] - expected[n]).max() < 1e-9 * np.abs(expected[n]).max()


@pytest.mark.parametrize("name", CASES)
def test_the_hessian_is_linear_in_the_share_of_what_rows_and_nodes_curve(name, monkeypatch):
    """The core evaluates it whole and bare and takes others from these two: beside the compiled one at each share."""
    transcription = transcribe(CASES[name]())
    block = transcription.blocks[0]
    recursive, compiled = both_ways(monkeypatch, transcription, block, "exact")
    inputs, weights = numbers_for(block, 7)
    given = [np.ascontiguousarray(part) for part in (*inputs, weights)]
    jacobian, whole, bare = recursive.graph.parts(given, block.head)
    np.testing.assert_array_equal(bare, recursive.graph.bare_hessian(given, block.head))
    slopes, unparted = recursive.graph.derivatives(given)
    np.testing.assert_array_equal(jacobian, slopes)
    size = sum(part.numel() for part in block.inputs[:2])
    assert np.abs(whole - bare).max() > 1e-3 * np.abs(whole).max()
    for share, found in ((1.0, whole), (1.0, unparted), (0.5, 0.5 * (whole + bare)), (0.0, bare)):
        counted = np.c_[weights[:, : block.head], share * weights[:, block.head :]]
        _, hessian = compiled.code[1].batch(*inputs, counted, np.full((1, 1), share))
        expected = dense(compiled.hessian_places, hessian, (size, size))
        for ours, theirs in zip(dense(recursive.hessian_places, found, (size, size)), expected):
            assert np.abs(ours - theirs).max() < 1e-9 * np.abs(theirs).max()


def test_threads_change_no_bit(monkeypatch):
    monkeypatch.setattr(functions, "MANY_UNKNOWNS", 1)
    solver = dive(diver(), steps=12).build()
    one, two = (solver.solve(settings=ts.Settings(threads=n)) for n in (1, 2))
    assert one.status == "solved"
    np.testing.assert_array_equal(one.q, two.q)


def test_positions_that_follow_velocities_change_no_answer(monkeypatch):
    """With the recursions the sweep takes rows of positions as a few entries, with compiled stages as full ones."""
    found = []
    for many in (1, 10**6):
        monkeypatch.setattr(functions, "MANY_UNKNOWNS", many)
        ocp = dive(diver(), steps=12)
        assert ocp.integrator == "semi-implicit euler"
        found.append(ocp.build().solve())
    few, full = found
    assert few.status == full.status == "solved"
    assert few.statistics.iterations == full.statistics.iterations
    np.testing.assert_allclose(few.q, full.q, atol=1e-8)
    np.testing.assert_allclose(few.tau, full.tau, atol=1e-7 * np.abs(full.tau).max())


def test_threads_share_large_products_and_change_no_bit():
    random = np.random.default_rng(3)
    ocp = ts.Problem(steps=6, step=0.1)
    x, u = ocp.state("x", 96), ocp.control("u", 40, lower=-1, upper=1)
    A, B = random.standard_normal((96, 96)) / 12, random.standard_normal((96, 40))
    ocp.next(x=A @ x + B @ u)
    ocp.minimize(ts.sumsqr(x) + ts.sumsqr(u))
    ocp.constrain("start", x, equals=random.standard_normal(96), at="start")
    solver = ocp.build()
    one, *others = (solver.solve(settings=ts.Settings(threads=n)) for n in (1, 2, 3))
    assert one.status == "solved"
    for other in others:
        np.testing.assert_array_equal(one.x, other.x)
        np.testing.assert_array_equal(one.u, other.u)


def test_rows_that_depend_on_each_other_are_named_as_not_finite(monkeypatch):
    """Two welds on one link: the matrix of the unknowns is singular, and no number comes out of it."""
    monkeypatch.setattr(functions, "MANY_UNKNOWNS", 1)
    arm = ts.robot("iiwa14")
    ocp = ts.Problem(steps=3, step=0.1)
    q, v, tau = ocp.state("q", 7), ocp.state("v", 7), ocp.control("tau", 7)
    pins = [ts.point("iiwa_link_7", period=None), ts.point("iiwa_link_7", (0.0, 0.0, 1e-9), period=None)]
    a, _ = arm.forward_dynamics(q, v, tau, pins, method="ltl")
    ocp.derivative(q=v, v=a)
    ocp.minimize(ts.sumsqr(tau))
    ocp.constrain("start", q, equals=np.full(7, 0.3), at="start")
    solution = ocp.build().solve(guess={"q": np.full(7, 0.3)})
    assert solution.status == "not finite"


def test_a_solver_says_which_dynamics_are_not_compiled(monkeypatch):
    for many, words in ((1, "dynamics of 13 unknowns by recursions over bodies"), (10**6, "exact Hessian")):
        monkeypatch.setattr(functions, "MANY_UNKNOWNS", many)
        assert str(dive(diver(), steps=3).build()).endswith(words)
