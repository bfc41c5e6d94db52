"""A sweep that threads share: the same answer as one thread's, to the bit, also where stages are small."""

import pytest
from suite import case
from trisweep.ocp import Settings


@pytest.mark.parametrize("name", ["rocket", "crane", "robot_arm", "heat", "catalyst_mixing", "marine"])
def test_threads_do_not_change_the_answer(name):
    stated = case(name).build()
    solver = stated.problem.build()
    alone, shared = (
        solver.solve(stated.guess, settings=Settings(threads=threads), **stated.parameters) for threads in (1, 2)
    )
    assert alone.solved and shared.solved
    assert [step.objective for step in alone.records] == [step.objective for step in shared.records]
