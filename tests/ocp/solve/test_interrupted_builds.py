"""Ctrl-C in a build: it ends there, and leaves a problem that can be built and a cache that can be read."""

import os
import signal

import numpy as np
import pytest
import trisweep as ts
from trisweep.native.compiler import engine
from trisweep.native.progress_bar import Progress


def pendulum():
    ocp = ts.Problem(steps=20, step=0.1)
    q, v, tau = ocp.state("q"), ocp.state("v"), ocp.control("tau", lower=-5, upper=5)
    ocp.derivative(q=v, v=tau - 9.81 * ts.sin(q))
    ocp.minimize(tau**2)
    ocp.constrain("start", ts.vertcat(q, v), equals=0, at="start")
    ocp.constrain("end", ts.vertcat(q - 1.0, v), equals=0, at="end")
    return ocp


@pytest.mark.parametrize("piece", [0, 1, 4])
def test_an_interrupted_build_can_be_made_again(piece, monkeypatch, tmp_path):
    monkeypatch.setenv("TRISWEEP_CACHE", str(tmp_path))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    made, count = engine.Assembler.object_code, [0]

    def pressed(self, text):
        count[0] += 1
        if count[0] == piece + 1:
            os.kill(os.getpid(), signal.SIGINT)  # comes in here, amid the build
        return made(self, text)

    ocp = pendulum()
    try:
        with monkeypatch.context() as patch:
            patch.setattr(engine.Assembler, "object_code", pressed)
            with pytest.raises(KeyboardInterrupt):
                ocp.build()
    finally:
        signal.signal(signal.SIGINT, before)
    assert count[0] == piece + 1
    assert not Progress._going_on
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and "tmp" in file.name]
    again = ocp.build().solve()
    assert again.status == "solved"
    np.testing.assert_array_equal(again.q, pendulum().build().solve().q)
