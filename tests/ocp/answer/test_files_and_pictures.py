"""Solutions in files, as copies and as pictures."""

import copy
import json

import numpy as np
import pytest
from support.ocp_problems import not_finite
from trisweep.ocp import Problem, ProblemError, Settings, Solution


def test_save_and_load_round_trip(solution, solver, tmp_path):
    path = solution.save(tmp_path / "swing")
    assert path.name == "swing.npz"
    back = Solution.load(path)
    assert str(back) == str(solution) and back.layout == solution.layout
    assert back.records == solution.records and back.statistics == solution.statistics
    for name, values in solution.trajectories.items():
        np.testing.assert_array_equal(back[name], values)
    for name, multipliers in solution.multipliers.items():
        np.testing.assert_array_equal(back.multipliers[name], multipliers)
    np.testing.assert_array_equal(back.gains, solution.gains)
    np.testing.assert_array_equal(back.times, solution.times)
    again = solver.solve(back, **back.parameters)
    assert again.solved and again.objective == pytest.approx(solution.objective)
    warm = solver.solve(warm_start=back, **back.parameters)
    assert warm.solved and warm.statistics.iterations < solution.statistics.iterations
    back.plot(tmp_path / "again.png")
    with pytest.raises(ProblemError, match="from a file"):
        back.check()


def test_a_failure_survives_a_file(tmp_path):
    failed = not_finite("corridor", "gradient").build().solve(c=np.ones(11))
    back = Solution.load(failed.save(tmp_path / "failed.npz"))
    assert back.fault == failed.fault is not None and str(back) == str(failed)


def test_other_files_get_a_sentence(solution, tmp_path):
    with pytest.raises(ProblemError, match="there is no file"):
        Solution.load(tmp_path / "nothing.npz")
    text, foreign, cut, newer, short = (
        tmp_path / f"{name}.npz" for name in ("text", "foreign", "cut", "newer", "short")
    )
    text.write_text("not an archive")
    np.savez(foreign, a=np.zeros(3))
    whole = solution.save(tmp_path / "whole.npz")
    cut.write_bytes(whole.read_bytes()[:500])
    for path in (text, foreign, cut):
        with pytest.raises(ProblemError, match="is not a solution, expected a file"):
            Solution.load(path)
    arrays = dict(np.load(whole))
    header = json.loads(arrays["header"].tobytes())
    np.savez(newer, **arrays | {"header": np.array(json.dumps(header | {"version": 99}))})
    with pytest.raises(ProblemError, match="has version 99, expected 7"):
        Solution.load(newer)
    np.savez(short, **arrays | {"z": arrays["z"][:-1]})
    with pytest.raises(ProblemError, match="is damaged"):
        Solution.load(short)


def test_copies_are_solutions(solution):
    twin = copy.copy(solution)
    np.testing.assert_array_equal(twin.angle, solution.angle)


def test_plot_draws_every_variable_and_opens_no_window(solution, tmp_path):
    figure = solution.plot(tmp_path / "deep" / "swing.png")
    assert (tmp_path / "deep" / "swing.png").read_bytes().startswith(b"\x89PNG")
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[:3] == ["state angle", "state rate", "control torque"] and len(titles) == 5
    assert figure.canvas.manager is None
    active = [label.get_text() for label in figure.axes[3].get_yticklabels()]
    assert "rate" in active and "torque" not in active
    heights = {line.get_ydata()[0] for line in figure.axes[1].lines if len(set(line.get_ydata())) == 1}
    assert 4.0 in heights


def test_plot_serves_what_has_no_controls_no_step_and_no_iterations(tmp_path):
    ocp = Problem(steps=1)
    x = ocp.state("x")
    ocp.next(x=0.5 * x)
    ocp.minimize(x**2, at="end")
    figure = ocp.build().solve(settings=Settings(iterations=0)).plot()
    assert figure.axes[0].get_title(loc="left") == "state x" and figure.axes[0].get_xlabel() == "stage"
    failed = not_finite("corridor", "gradient").build().solve(c=np.ones(11))
    assert failed.records == [] and len(failed.plot(tmp_path / "failed.png").axes) == 5
