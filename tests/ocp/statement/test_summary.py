"""Statements, solvers and constraints as a person reads them."""

import numpy as np
import pytest
import trisweep as ts


def overtaking() -> ts.Problem:
    ocp = ts.Problem(steps=8, duration=ts.Free(2, 1, 5), name="overtake")
    p, v = ocp.state("p", 2), ocp.state("v", lower=0, upper=8)
    a, gap = ocp.control("a", lower=[-3], upper=2), ocp.parameter("gap")
    ocp.start("v")
    ocp.derivative(p=ts.vertcat(v, 0.1 * p[0]), v=a)
    ocp.minimize(a**2, name="push")
    ocp.minimize(ocp.steps * ocp.time_step, at="end")
    ocp.constrain("from", p, equals=0, at="start")
    ocp.constrain("to", p[0], equals=4, at="end")
    ocp.constrain("apart", p[1], lower=-1, upper=gap, at=slice(2, 5))
    ocp.constrain("lane", p, lower=-2, upper=[9, 4], soft=10.0, at=[1, 7])
    return ocp


def test_a_statement_is_a_table():
    assert str(overtaking()).splitlines() == [
        "overtake: 8 steps, the duration in [1, 5] s",
        "  state      p       (2)",
        "  state      v       (1)  first value given, in [0, 8]",
        "  control    a       (1)  in [-3, 2]",
        "  parameter  gap     (1)",
        "  dynamics   p, v         euler",
        "  minimize   push         all steps",
        "  minimize   cost 2       at the end",
        "  constrain  from    (2)  equality, at the start",
        "  constrain  to      (1)  equality, at the end",
        "  constrain  apart   (1)  in [-1, given], stages 2 to 4",
        "  constrain  lane    (2)  soft, in [-2, 9] [-2, 4], 2 stages from 1 to 7",
    ]


def test_what_has_nothing_yet_and_what_has_phases():
    assert str(ts.Problem(steps=1)) == "motion: 1 step"
    stance, flight = ts.Problem(steps=3, step=0.1, name="stance"), ts.Problem(steps=2, duration=1, name="flight")
    for phase in (stance, flight):
        phase.derivative(x=phase.state("x", 7, upper=np.arange(7.0)))
    stance.then(flight)
    lines = str(stance).splitlines()
    assert lines[0] == "stance: 3 steps of 0.1 s" and lines[3] == "flight: 2 steps of 0.5 s"
    assert lines[1].endswith("in [-inf, 0] [-inf, 1] [-inf, 2] [-inf, 3] [-inf, 4] ...")


def test_a_solver_says_how_it_was_built_and_a_constraint_where_it_works():
    ocp = ts.Problem(steps=4, step=1.0)
    x, u = ocp.state("x"), ocp.control("u")
    ocp.derivative(x=u)
    ocp.minimize((u - 1) ** 2)
    ocp.constrain("from", x, equals=0, at="start")
    ocp.constrain("wall", x, upper=2.5)
    solver = ocp.build()
    assert str(solver).splitlines()[-1].startswith("9 variables, 10 rows; built in ")
    assert str(solver).endswith("s for native, exact Hessian")
    assert str(solver.solve().constraints["wall"]) == (
        "row 0: 0 (stage 0) to 2.5 (stage 4), limits at work: 1 from stage 4 to 4"
    )


def test_a_free_duration_is_no_expression():
    ocp = ts.Problem(steps=8, duration=ts.Free(2, 1, 5))
    with pytest.raises(ts.ProblemError, match=r"'cost 1' is a Free, .*; the duration is steps \* time_step"):
        ocp.minimize(ocp.duration, at="end")
