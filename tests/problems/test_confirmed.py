"""Random small problems with slopes over ten decades: every "solved" is confirmed by Newton's method in 60 digits."""

from types import SimpleNamespace

import pytest
from scoreboard.extended import FORMS, SAME, confirm, draw, solve

COUNT = 240


@pytest.mark.parametrize("part", range(4))
def test_every_solved_is_confirmed_in_extended_precision(part):
    solved = 0
    for i, drawn in enumerate(draw(COUNT, seed=1)):
        if i % 4 != part:
            continue
        solution = solve(drawn)
        assert solution.status in {"solved", "infeasible", "stalled", "iteration limit", "not minimal"}
        if solution.solved:
            solved += 1
            found = confirm(drawn, solution)
            assert found.ended and found.apart <= SAME, (i, drawn, solution.objective, found)
    assert solved >= 0.75 * COUNT / 4  # some have limits that no motion keeps


@pytest.mark.parametrize("number", range(0, len(FORMS), 5))
def test_an_answer_that_is_off_is_found(number):
    """The free entries of the answer moved by a hundredth of their size: Newton's method goes back."""
    drawn = list(draw(len(FORMS), seed=3))[number]
    solution = solve(drawn)
    assert solution.solved
    true = confirm(drawn, solution)
    off = SimpleNamespace(u=0.99 * solution.u, x=1.01 * solution.x)
    assert true.apart <= SAME < confirm(drawn, off).apart
