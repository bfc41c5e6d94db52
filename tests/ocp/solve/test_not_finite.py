"""Terms that are not finite are named, with their stage and what of them is not."""

import numpy as np
import pytest
from support.ocp_problems import not_finite


@pytest.mark.parametrize("what", ["value", "gradient", "curvature"])
@pytest.mark.parametrize("where", ["dynamics of v", "the second cost", "corridor"])
def test_what_is_not_finite_is_named_with_its_stage(where, what):
    solver = not_finite(where, what).build()
    c, guess = np.ones(11), np.ones((11, 1))
    if what == "value":
        c[7] = -1.0
    else:
        guess[7] = 0.0
    solution = solver.solve({"x": guess}, c=c)
    assert solution.status == "not finite"
    row = 1 if where == "corridor" else 0
    fault = solution.fault
    assert (fault.name, fault.stage, fault.row, fault.what) == (where, 7, row, what)
    assert f"'{where}' row {row} at stage 7" in str(solution) and "not defined" in solution.advice
    assert solver.solve({"x": np.ones((11, 1))}, c=np.ones(11)).solved
