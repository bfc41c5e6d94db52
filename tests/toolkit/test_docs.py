"""The Python of the pages in docs/ runs as it stands, block after block."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
import trisweep as ts
from trisweep.dynamics import ModelBuilder
from trisweep.problems.mechanisms import four_bar

PAGES = sorted((Path(__file__).parents[2] / "docs").glob("*.md"))


def pendulum(parameter: str, size: int, follow: bool):
    """q, v and tau of one joint; measured and following a target, or brought to a goal."""
    body = ModelBuilder("pendulum").add("tool", joint="revolute", axis=(0, 1, 0), mass=1.0, com=(0, 0, -0.5))
    arm = body.build()
    ocp = ts.Problem(steps=10, step=0.05)
    q, v = ocp.state("q"), ocp.state("v")
    tau = ocp.control("tau", lower=-20, upper=20)
    given = ocp.parameter(parameter, size)
    ocp.derivative(q=v, v=arm.forward_dynamics(q, v, tau))
    ocp.minimize(1e-3 * tau**2 + (ts.sumsqr(q - given) if follow else 0))
    if follow:
        ocp.start("q", "v")
    else:
        ocp.constrain("start", ts.vertcat(q, v), equals=0, at="start")
        ocp.constrain("goal", q, equals=given, at="end")
    return arm, ocp


def in_the_loop():
    arm, ocp = pendulum("target", 1, follow=True)
    return {
        "ts": ts,
        "arm": arm,
        "ocp": ocp,
        "solver": ocp.build(),
        "q": 0.1,
        "v": 0.0,
        "measurements": [(0.1, 0.0), (0.12, 0.1)],
        "target": lambda time: 0.2 + time,
        "send": print,
    }


class Workers(ThreadPoolExecutor):
    """What Dask, MPI and Ray stand for: something with `submit`."""

    def __init__(self, *_, **__):
        super().__init__(2)

    def get_executor(self):
        return self


def batches():
    _, ocp = pendulum("goal", 1, follow=False)
    ray = SimpleNamespace(util=SimpleNamespace(multiprocessing=SimpleNamespace(Pool=Workers)))
    goals = np.linspace(-0.5, 0.5, 20)[:, None]
    return {"ts": ts, "ocp": ocp, "goals": goals, "Client": Workers, "MPIPoolExecutor": Workers, "ray": ray}


def mechanisms():
    return {"linkage": four_bar().model}


BEFORE = {"control": in_the_loop, "export": in_the_loop, "many": batches, "dynamics": mechanisms}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    names = BEFORE.get(page.stem, dict)()
    for block in re.finditer(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL):
        line = page.read_text()[: block.start()].count("\n") + 1
        exec(compile("\n" * line + block[1], str(page), "exec"), names)
