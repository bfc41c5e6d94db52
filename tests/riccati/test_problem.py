"""Stating a problem: every mistake gets a sentence that names the stage, the field, the value and what was expected."""

import numpy as np
import pytest
from trisweep.riccati import LQProblem, ProblemError, RightHandSide, Stage, factorize

EYE = np.eye(2)


def two_stages(**broken):
    """A good problem of two stages, one field of the second one broken."""
    fields = dict(
        Q=EYE, q=[0, 0], R=[[1.0]], parent=0, A=EYE, B=np.ones((2, 1)), b=[0, 0], Gx=[[1, 0]], Gu=[[1]], g=[0]
    )
    return LQProblem([Stage(EYE, [0, 0], R=[[1.0]]), Stage(**{**fields, **broken})], initial_state=[1, 1])


def test_the_good_one_is_solved():
    assert two_stages().solve().status == "solved"


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (dict(Q=np.eye(3)), r"stage 1: Q has shape \(3, 3\), expected \(2, 2\)"),
        (dict(Q=[[1, 2], [0, 1]]), r"stage 1: Q is not symmetric: \[0, 1\] is 2 and \[1, 0\] is 0"),
        (dict(Q=None), "stage 1: Q is None, expected an array"),
        (dict(Q="large"), "stage 1: Q"),
        (dict(q=[0, np.nan]), r"stage 1: q\[1\] is nan, expected a finite number"),
        (dict(q=[0, 0, 0]), r"stage 1: Q has shape \(2, 2\), expected \(3, 3\)"),
        (dict(R=[[np.inf]]), r"stage 1: R\[0, 0\] is inf, expected a finite number"),
        (dict(S=np.zeros((1, 2))), r"stage 1: S has shape \(1, 2\), expected \(2, 1\)"),
        (dict(r=[1, 2]), r"stage 1: r has shape \(2,\), expected \(1,\)"),
        (dict(Gx=np.zeros((2, 2))), r"stage 1: Gx has shape \(2, 2\), expected \(1, 2\)"),
        (dict(Gu=np.zeros((1, 3))), r"stage 1: Gu has shape \(1, 3\), expected \(1, 1\)"),
        (dict(g=[[0.0]]), r"stage 1: g has shape \(1, 1\), expected \(1,\)"),
        (dict(A=np.zeros((2, 3))), r"stage 1: A has shape \(2, 3\), expected \(2, 2\)"),
        (dict(A=None), "stage 1: A is None, expected the matrix of the edge from stage 0"),
        (dict(B=np.zeros((2, 4))), r"stage 1: B has shape \(2, 4\), expected \(2, 1\)"),
        (dict(b=[1]), r"stage 1: b has shape \(1,\), expected \(2,\)"),
        (dict(parent=None), "stage 1: parent is None, expected the index of an earlier stage"),
        (dict(parent=1), "stage 1: parent is 1, expected an earlier stage, 0 to 0"),
        (dict(parent=-1), "stage 1: parent is -1, expected an earlier stage, 0 to 0"),
        (dict(parent=0.5), "stage 1: parent is 0.5, expected the index of an earlier stage"),
    ],
)
def test_each_broken_field_is_named(broken, sentence):
    with pytest.raises(ProblemError, match=sentence):
        two_stages(**broken)


def test_problems_that_are_none():
    with pytest.raises(ProblemError, match="needs at least one stage, got none"):
        LQProblem([])
    with pytest.raises(ProblemError, match="stage 0 is a ndarray, expected a Stage"):
        LQProblem([EYE])
    with pytest.raises(ProblemError, match="stage 0: parent is given, but the root has no parent"):
        LQProblem([Stage(EYE, [0, 0], parent=0)])
    with pytest.raises(ProblemError, match=r"initial_state has shape \(3,\), expected \(2,\)"):
        LQProblem([Stage(EYE, [0, 0])], [0, 0, 0])
    with pytest.raises(ProblemError, match=r"initial_state\[0\] is nan"):
        LQProblem([Stage(EYE, [0, 0])], [np.nan, 0])
    with pytest.raises(ProblemError, match="factorize takes an LQProblem, got a list"):
        factorize([])


def test_chains():
    with pytest.raises(ProblemError, match="chain: steps is 0, expected at least 1"):
        LQProblem.chain(0, A=EYE, B=EYE, Q=EYE, R=EYE)
    with pytest.raises(ProblemError, match=r"chain: B has shape \(3, 2, 2\), expected 2 axes, or 3 with 5 entries"):
        LQProblem.chain(5, A=EYE, B=np.zeros((3, 2, 2)), Q=EYE, R=EYE)
    varying = LQProblem.chain(5, A=np.stack([EYE] * 5), B=EYE, Q=EYE, R=EYE, initial_state=[1, 1])
    constant = LQProblem.chain(5, A=EYE, B=EYE, Q=EYE, R=EYE, initial_state=[1, 1])
    assert len(constant.stages) == 6
    np.testing.assert_array_equal(varying.solve().x, constant.solve().x)


def test_right_hand_sides():
    problem = two_stages()
    factor = factorize(problem)
    vectors = problem.right_hand_side
    with pytest.raises(ProblemError, match="right-hand side: q has 1 entries, expected one for each of the 2 stages"):
        factor.solve(RightHandSide(vectors.q[:1], vectors.r, vectors.b, vectors.g, vectors.initial_state))
    with pytest.raises(ProblemError, match=r"right-hand side, stage 1: g has shape \(2,\), expected \(1,\)"):
        factor.solve(RightHandSide(vectors.q, vectors.r, vectors.b, [[], [1, 2]], vectors.initial_state))
    with pytest.raises(ProblemError, match="initial_state is None, expected a vector, as the root is fixed"):
        factor.solve(RightHandSide(vectors.q, vectors.r, vectors.b, vectors.g))
    assert factor.solve().status == "solved"


def test_a_problem_does_not_change_with_the_arrays_it_was_made_of():
    q = np.ones(2)
    problem = LQProblem([Stage(EYE, q)])
    q[:] = 5.0
    np.testing.assert_allclose(problem.solve().x[0], [-1.0, -1.0])


def test_checked_stages_can_be_used_again():
    problem = two_stages()
    again = LQProblem(problem.stages, problem.initial_state)
    np.testing.assert_array_equal(again.solve().x, problem.solve().x)


def test_the_core_refuses_what_does_not_fit():
    from trisweep.native import core

    with pytest.raises(ValueError, match="stage 1: parent must be an earlier stage"):
        core.Riccati([1, 1], [0, 0], [0, 0], [-1, 3], True)
    with pytest.raises(ValueError, match="stage 0: a size is negative"):
        core.Riccati([-1], [0], [0], [-1], True)
    with pytest.raises(ValueError, match="one entry for each stage"):
        core.Riccati([], [], [], [], True)
    one = core.Riccati([1], [0], [0], [-1], True)
    with pytest.raises(ValueError, match="H has the wrong shape"):
        one.set_stage(0, np.zeros((2, 2)), np.zeros((0, 1)), np.zeros((0, 0)))
    with pytest.raises(IndexError):
        one.set_stage(7, np.zeros((1, 1)), np.zeros((0, 1)), np.zeros((0, 0)))
    with pytest.raises(ValueError, match="solve comes after a factor that succeeded"):
        one.solve()
    with pytest.raises(ValueError, match="a right-hand side has the wrong length"):
        one.set_vectors(np.zeros(9), np.zeros(0), np.zeros(0), np.zeros(0))
