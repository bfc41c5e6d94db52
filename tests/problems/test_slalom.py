"""The example of the Riccati sweep on its own."""

import runpy
from pathlib import Path

import numpy as np

EXAMPLE = Path(__file__).parents[2] / "examples" / "slalom.py"


def test_the_puck_goes_through_every_gate_and_stops(tmp_path):
    example = runpy.run_path(str(EXAMPLE))
    solution = example["slalom"]().solve()
    x = np.array(solution.x)
    for step, position in example["GATES"].items():
        np.testing.assert_allclose(x[step, :2], position, atol=1e-10)
    np.testing.assert_allclose(x[-1], [*example["FINISH"], 0, 0], atol=1e-10)
    example["plot"](solution, tmp_path / "slalom.png")
    assert (tmp_path / "slalom.png").read_bytes().startswith(b"\x89PNG")
