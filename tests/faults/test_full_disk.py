"""Every writer on a disk that takes a part of what it writes: an error of the system, the old file, nothing beside it.

The system itself refuses the rest: a limit on the size of files, in a process of its own.
"""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of a process")

WRITERS = """
import os, resource, signal, sys, warnings
from pathlib import Path
import numpy as np
import casadi as ca
import trisweep as ts
from trisweep.native import compile_function

warnings.simplefilter("ignore")
folder = Path(sys.argv[1])
ocp = ts.Problem(steps=200, step=0.05)
x, u = ocp.state("x", 2), ocp.control("u", lower=-1, upper=1)
ocp.derivative(x=ts.vertcat(x[1], u - ts.sin(x[0])))
ocp.minimize(u**2 + 0.1 * ts.sumsqr(x))
ocp.start("x")
solver = ocp.build()
start = {"x": np.linspace(0, 1, 40).reshape(20, 2)}
solution = solver.solve(start={"x": [0.5, 0.0]})
many = solver.solve_many(start=start, progress=False)
controller = solver.controller()
controller.step({"x": [0.5, 0.0]})
builder = ts.ModelBuilder("arm")
builder.add("bob", joint="revolute", mass=1.0, com=(0.2, 0, 0), inertia=0.1 * np.eye(3))
swing = ts.simulate(builder.build(), [0.1], duration=0.1)

writers = {
    "solution.npz": solution.save,
    "many.npz": many.save,
    "solution.png": solution.plot,
    "many.svg": many.plot,
    "history.png": controller.history.plot,
    "swing.png": swing.plot,
    "swing.html": swing.animate,
}
for name, write in writers.items():  # what they import, and read once, is there
    write(folder / name)
whole = {name: (folder / name).read_bytes() for name in writers}

def limited(size):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as Python does: a write fails in place of the process
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

for size in (0, 10, 1000, 2500):
    for name, write in writers.items():
        limited(size)
        try:
            write(folder / name)
            raise AssertionError(f"{name} was written within {size} bytes")
        except OSError as error:
            assert "too large" in str(error), error
        finally:
            limited(resource.RLIM_INFINITY)
        assert (folder / name).read_bytes() == whole[name], name
    for act, made in (
        (lambda: solver.export(folder / "exported"), "exported"),
        (lambda: ts.solve_many(solver, start=start, progress=False, resume=folder / "sweep"), "sweep"),
    ):
        limited(size)
        try:
            act()
            raise AssertionError(f"{made} was written within {size} bytes")
        except OSError as error:
            assert "too large" in str(error), error
        finally:
            limited(resource.RLIM_INFINITY)
    assert not (folder / "exported").exists()
    assert {path.name for path in folder.iterdir()} <= {*writers, "sweep"}
    # A cache that cannot be written means compiling in memory.
    os.environ["TRISWEEP_CACHE"] = str(folder.parent / f"cache {size}")
    y = ca.SX.sym("y")
    limited(size)
    assert compile_function(ca.Function("f", [y], [y * (3 + size)]))(2.0)[0] == 6 + 2 * size
    limited(resource.RLIM_INFINITY)
    assert compile_function(ca.Function("f", [y], [y * (3 + size)]))(2.0)[0] == 6 + 2 * size
again = ts.solve_many(solver, start=start, progress=False, resume=folder / "sweep")
assert (again.x == many.x).all() and again.solved.all()
solver.export(folder / "exported")
print("nothing lost")
"""


def test_what_does_not_fit_leaves_what_was_there(tmp_path):
    folder = tmp_path / "written"
    folder.mkdir()
    run = subprocess.run([sys.executable, "-c", WRITERS, str(folder)], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "nothing lost\n"), run.stderr[-3000:]
