"""Many solves on workers in other processes: the bits of threads, nothing lost with a worker, nothing solved twice."""

import multiprocessing
import os
import signal
import subprocess
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import fields
from multiprocessing.pool import ThreadPool
from pathlib import Path

import numpy as np
import pytest
import trisweep as ts
from trisweep.ocp import Problem, ProblemError, Solutions
from trisweep.ocp.many import dispatcher, letterbox, worker
from trisweep.ocp.many import executor as many_executor
from trisweep.ocp.many.answers import not_begun
from trisweep.ocp.many.threads import solve_rows

STATEMENT = """
import casadi as ca, numpy as np, trisweep as ts
ocp = ts.Problem(steps=20, step=0.1)
x, u = ocp.state("x", 2), ocp.control("u", lower=-2, upper=2)
target = ocp.parameter("target")
ocp.derivative(x=ca.vertcat(x[1], u - 0.1 * x[1] ** 3))
ocp.minimize(u**2)
ocp.constrain("start", x, equals=0, at="start")
ocp.constrain("finish", x, equals=ca.vertcat(target, 0), at="end")
solver, targets = ocp.build(), np.append(np.linspace(-1.2, 1.6, 119), 50.0)
"""


@pytest.fixture(scope="module")
def stated():
    """A solver with targets, the last of which cannot be reached, and what threads make of them."""
    names: dict = {}
    exec(STATEMENT, names)
    solver, targets = names["solver"], names["targets"]
    return solver, targets, solver.solve_many(target=targets, threads=2)


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(many_executor, "CHUNK_SECONDS", 0.005)
    monkeypatch.setattr(many_executor, "LEAST_SECONDS", 0.0)


def assert_same(found, expected):
    assert found.statuses == expected.statuses and {"solved", "infeasible"} <= set(found.counts)
    for name in ("z", "y", "w", "gains", "objectives", "counts"):
        np.testing.assert_array_equal(getattr(found.answers, name), getattr(expected.answers, name))


@pytest.mark.parametrize("kind", ["fork", "spawn"])
def test_processes_give_the_bits_of_threads(stated, kind, small_chunks):
    if kind not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system does not {kind}")
    solver, targets, expected = stated
    worker._SOLVERS.clear()
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(kind)) as pool:
        found = ts.solve_many(solver, executor=pool, target=targets, progress=False)
        again = ts.solve_many(solver, executor=pool, target=targets[::-1].copy(), threads=2)
    assert_same(found, expected)
    assert (again.answers.z[::-1] == expected.answers.z).all()
    assert found[3].records == expected[3].records and found[3].check().worst < 1e-6


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system does not fork")
@pytest.mark.parametrize("memory", ["there", "not there", "lost"])
def test_answers_through_memory(stated, small_chunks, tmp_path, monkeypatch, memory):
    """Out of files in memory, where there is such a place; what is lost there is solved again; nothing is left."""
    solver, targets, expected = stated
    monkeypatch.setattr(letterbox, "MEMORY", str(tmp_path if memory != "not there" else tmp_path / "nowhere"))
    taken = []

    def take(name, *rest):
        taken.append(name)
        if memory == "lost" and len(taken) == 2:
            os.unlink(name)
        return letterbox.take(name, *rest)

    monkeypatch.setattr(many_executor, "take", take)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        assert_same(ts.solve_many(solver, target=targets, executor=pool, progress=False), expected)
    assert bool(taken) == (memory != "not there") and not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="there is no such folder elsewhere")
def test_a_folder_in_memory_whose_reader_was_killed_is_taken_away(tmp_path, monkeypatch):
    """What lies there would stay until the machine is switched off; folders of readers at work stay."""
    monkeypatch.setattr(letterbox, "MEMORY", str(tmp_path))
    code = "import os, sys, time; from trisweep.ocp.many import letterbox\n"
    code += "letterbox.MEMORY = sys.argv[1]; print(letterbox.Letterbox.new().path, flush=True); sys.stdin.read()"
    script = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(script, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
        path = Path(reader.stdout.readline().strip())
        (path / "answers").write_bytes(b"1")
        mine = letterbox.Letterbox.new()
        for folder in (path, mine.path, letterbox.Letterbox.new().path):
            os.utime(folder, (0, 0))
        letterbox.Letterbox.new().remove()
        assert path.is_dir() and Path(mine.path).is_dir()
        reader.kill()
    letterbox.Letterbox.new().remove()
    assert not path.exists() and Path(mine.path).is_dir()


def test_no_room_in_memory(stated, monkeypatch, tmp_path):
    *_, expected = stated
    box = letterbox.Letterbox(str(tmp_path), 0)
    whole = letterbox.take(box.post(expected.answers), expected.layout, expected.answers.shared_parameters)
    for part in fields(whole):
        np.testing.assert_array_equal(getattr(whole, part.name), getattr(expected.answers, part.name))

    def full(_):
        raise OSError("no space left")

    monkeypatch.setattr(letterbox.np, "ascontiguousarray", full)
    assert box.post(expected.answers) == "" and not list(tmp_path.iterdir())
    assert letterbox.Letterbox(str(tmp_path), os.getpid()).post(expected.answers) == ""


def test_threads_of_this_process_and_none(stated):
    solver, targets, expected = stated
    with ThreadPoolExecutor(2) as pool:
        assert_same(ts.solve_many(solver, executor=pool, target=targets), expected)
    assert_same(ts.solve_many(solver, executor=ThreadPoolExecutor, target=targets), expected)
    assert_same(ts.solve_many(solver, target=targets), expected)


def test_answers_as_they_come(stated, small_chunks):
    solver, targets, expected = stated
    met = np.zeros(len(targets), dtype=int)
    with ThreadPoolExecutor(2) as pool:
        for numbers, solutions in ts.solve_many(solver, executor=pool, target=targets, as_completed=True):
            met[numbers.start : numbers.stop] += 1
            assert (solutions.answers.z == expected.answers.z[numbers.start : numbers.stop]).all()
            assert len(solutions) == len(numbers)
    assert (met == 1).all()


def children():
    return {child.pid for child in multiprocessing.active_children()}


def test_a_worker_that_is_killed_loses_nothing(stated, small_chunks):
    solver, targets, expected = stated
    pools = []

    def pool():
        pools.append(ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")))
        return pools[-1]

    before, killed, found = children(), [], {}
    for numbers, solutions in ts.solve_many(solver, executor=pool, target=targets, as_completed=True):
        if not killed:
            killed += [min(children() - before)]
            os.kill(killed[0], signal.SIGKILL)
        assert not any(number in found for number in numbers)
        found |= dict(zip(numbers, solutions.answers.z))
    assert len(pools) == 2 and sorted(found) == list(range(len(targets)))
    assert all((found[i] == expected.answers.z[i]).all() for i in found)


def test_an_executor_that_broke_leaves_what_is_there(stated, small_chunks):
    solver, targets, expected = stated
    before = children()
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        pool.submit(os.getpid).result()
        (victim,) = children() - before
        os.kill(victim, signal.SIGKILL)
        with pytest.warns(RuntimeWarning, match=r"the executor is broken .*executor=lambda: ProcessPoolExecutor\(\)"):
            found = ts.solve_many(solver, executor=pool, target=targets)
        assert "interrupted" in found.counts and not found.answers.begun.any()
        assert "0 of 120 problems solved" in str(found)
        with pytest.raises(ProblemError, match="the executor is broken"):
            list(ts.solve_many(solver, executor=pool, target=targets, as_completed=True))
    with ThreadPoolExecutor(1) as closed:
        pass
    with pytest.warns(RuntimeWarning, match="the executor is broken .*after shutdown"):
        assert not ts.solve_many(solver, executor=closed, target=targets).answers.begun.any()


class Stumbling(Executor):
    """What `fails`, of its number and its chunk, fails."""

    def __init__(self, fails):
        self.given, self.fails = 0, fails

    def submit(self, work, /, chunk):
        self.given += 1
        future: Future = Future()
        if self.fails(self.given, chunk):
            future.set_exception(OSError("the cable was pulled"))
        else:
            future.set_result(work(chunk))
        return future


def test_chunks_that_fail_go_out_again(stated, small_chunks):
    solver, targets, expected = stated
    assert_same(ts.solve_many(solver, executor=Stumbling(lambda given, _: given % 5 == 2), target=targets), expected)
    with pytest.raises(ProblemError, match="problems 0 to 1 failed 4 times, the last time with OSError: the cable was"):
        ts.solve_many(solver, executor=Stumbling(lambda given, _: True), target=targets)
    crashing = Stumbling(lambda _, chunk: chunk.first <= 40 < chunk.first + chunk.rows.count)
    with pytest.warns(RuntimeWarning, match="failed 4 times.*; they are not begun"):
        found = ts.solve_many(solver, executor=crashing, target=targets)
    begun = found.answers.begun
    assert not begun[40] and begun[-1] and begun.sum() > 60
    assert (found.answers.z[begun] == expected.answers.z[begun]).all()


def test_a_worker_asks_for_a_solver_once(stated):
    solver, targets, expected = stated
    shipped = []

    class Elsewhere(Stumbling):
        def submit(self, work, /, chunk):
            if chunk.packed is None and not shipped:
                worker._SOLVERS.clear()  # as in a process of its own
            shipped.extend([chunk.first] if chunk.packed is not None else [])
            return super().submit(work, chunk)

    assert_same(ts.solve_many(solver, executor=Elsewhere(lambda given, _: False), target=targets), expected)
    assert 1 <= len(shipped) <= many_executor.FIRST_OUT and next(iter(worker._SOLVERS.values())) is not solver
    for i in range(2 * worker.KEPT):
        worker.keep(f"another {i}", solver)
    assert len(worker._SOLVERS) == worker.KEPT


KILLED = (
    STATEMENT
    + """
import os, signal, sys
from trisweep.ocp.many import executor
executor.CHUNK_SECONDS, executor.LEAST_SECONDS = 0.005, 0.0
come = ts.solve_many(solver, target=targets, resume=sys.argv[1], as_completed=True)
for _ in range(5):
    next(come)
os.kill(os.getpid(), signal.SIGKILL)
"""
)


def test_a_run_that_was_killed_goes_on(stated, tmp_path, monkeypatch, small_chunks):
    solver, targets, expected = stated
    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], timeout=120)
    assert ended.returncode == -signal.SIGKILL
    kept = [[int(part) for part in path.stem.split("-")] for path in tmp_path.glob("*.npz")]
    there = {i for first, last in kept for i in range(first, last + 1)}
    assert len(kept) >= 5 and len(there) < len(targets)
    solved = []

    def counted(chunk):
        solved.extend(range(chunk.first, chunk.first + chunk.rows.count))
        return worker.work(chunk)

    monkeypatch.setattr(dispatcher, "work", counted)
    assert_same(ts.solve_many(solver, target=targets, resume=tmp_path), expected)
    assert sorted([*there, *solved]) == list(range(len(targets)))
    solved.clear()
    whole = ts.solve_many(solver, target=targets, resume=tmp_path)
    assert_same(whole, expected)
    assert not solved and whole[2].solved


def test_ctrl_c_ends_it_all_and_keeps_whole_chunks_alone(stated, tmp_path, monkeypatch, small_chunks):
    solver, targets, expected = stated
    asked = []

    def interrupted_at_the_third(solver, rows, *how):
        asked.append(rows.count)
        answers = solve_rows(solver, rows, *how)
        return answers if len(asked) != 3 else not_begun(solver.layout, rows.shared)

    monkeypatch.setattr(worker, "solve_rows", interrupted_at_the_third)
    found = ts.solve_many(solver, target=targets, resume=tmp_path)
    begun = found.answers.begun
    assert len(asked) == 3 and begun.sum() == sum(asked[:2]) and "interrupted" in found.counts
    assert_same(ts.solve_many(solver, target=targets, resume=tmp_path), expected)


def test_a_folder_of_another_batch_is_refused_and_a_damaged_file_solved_again(stated, tmp_path, small_chunks):
    solver, targets, expected = stated
    ts.solve_many(solver, target=targets, resume=tmp_path / "sweep")
    with pytest.raises(ProblemError, match=r"^solve_many: resume is '[^']*', which has the answers of another batch"):
        ts.solve_many(solver, target=targets + 1e-9, resume=tmp_path / "sweep")
    with pytest.raises(ProblemError, match="has the answers of another batch"):
        ts.solve_many(solver, target=targets, resume=tmp_path / "sweep", settings=ts.Settings(tolerance=1e-6))
    damaged = min((tmp_path / "sweep").glob("*.npz"))
    damaged.write_bytes(damaged.read_bytes()[:-40])
    with pytest.warns(RuntimeWarning, match="is not solutions of many problems.*it is solved again"):
        assert_same(ts.solve_many(solver, target=targets, resume=tmp_path / "sweep"), expected)
    expected.save(tmp_path / "other.npz")
    with pytest.raises(ProblemError, match=r"which has files but no batch.json, expected an empty folder"):
        ts.solve_many(solver, target=targets, resume=tmp_path)
    with pytest.raises(ProblemError, match="which is no folder of a batch"):
        ts.solve_many(solver, target=targets, resume=tmp_path / "other.npz")


def test_misuse_gets_a_sentence(stated):
    solver, targets, _ = stated
    for given, match in (
        ({"executor": 3}, r"executor is a int, expected something with submit\(...\)"),
        ({"executor": lambda: 3}, r"executor gives a int, expected one with submit\(...\)"),
        ({"executor": ThreadPool(1)}, "executor is a multiprocessing.Pool, which never tells that a worker has died"),
        ({"threads": 0}, "threads is 0, expected a whole number from 1 to 256"),
        ({"settings": 3}, "settings is 3, expected Settings"),
        ({"resume": 3}, "resume: path is 3, expected a path"),
        ({"target": [*targets, np.nan]}, "'target' of problem 120 has an entry that is not finite"),
        ({"target": [[1, 2], [3, 4]]}, r"'target' has shape \(2, 2\), expected \(problems, 1\)"),
    ):
        with pytest.raises(ProblemError, match=match):
            ts.solve_many(solver, **{"target": targets, **given})
    with pytest.raises(ProblemError, match="solver is a Problem, expected what build"):
        ts.solve_many(Problem(steps=3), target=targets)


class AsRay:
    """A pool as Ray's: its first task fails as that of a worker that died."""

    def __init__(self):
        self.threads, self.lost = ThreadPoolExecutor(2), 0

    def apply_async(self, work, args, kwds, callback, error_callback):
        if not self.lost:
            self.lost += 1
            error_callback(RuntimeError("the actor died"))
        else:
            self.threads.submit(work, *args, **kwds).add_done_callback(lambda done: callback(done.result()))

    def terminate(self):
        self.threads.shutdown(wait=False)


def test_a_pool_serves_as_an_executor(stated, small_chunks):
    solver, targets, expected = stated
    made: list[AsRay] = []
    assert_same(
        ts.solve_many(solver, executor=lambda: made.append(AsRay()) or made[-1], target=targets),
        expected,
    )
    assert [pool.lost for pool in made] == [1]
    with pytest.raises(RuntimeError, match="shutdown"):
        made[0].threads.submit(len, [])


def test_dask(stated, small_chunks):
    distributed = pytest.importorskip("distributed", reason="Dask (pip install distributed) is not here")
    solver, targets, expected = stated
    quiet = {"dashboard_address": None, "silence_logs": 50}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **quiet) as cluster,
        distributed.Client(cluster) as client,
    ):
        executor = client.get_executor()
        assert_same(ts.solve_many(solver, executor=executor, target=targets), expected)
        victim, found = min(client.run(os.getpid).values()), {}
        for numbers, solutions in ts.solve_many(solver, executor=executor, target=targets, as_completed=True):
            if not found:
                os.kill(victim, signal.SIGKILL)
            found |= dict(zip(numbers, solutions.answers.z))
    assert all((found[i] == expected.answers.z[i]).all() for i in range(len(targets)))


MPI = (
    STATEMENT
    + """
if __name__ == "__main__":
    import sys
    from mpi4py.futures import MPIPoolExecutor
    with MPIPoolExecutor() as pool:
        ts.solve_many(solver, executor=pool, target=targets).save(sys.argv[1])
"""
)


def test_mpi(stated, tmp_path):
    pytest.importorskip("mpi4py.futures", reason="mpi4py (pip install mpi4py mpich) is not here")
    launcher = Path(sys.executable).with_name("mpiexec")
    if not launcher.exists():
        pytest.skip("there is no mpiexec beside Python (pip install mpich)")
    solver, targets, expected = stated
    script, out = tmp_path / "sweep.py", tmp_path / "sweep.npz"
    script.write_text(MPI)
    command = [launcher, "-n", "3", sys.executable, "-m", "mpi4py.futures", script, out]
    subprocess.run(
        command, check=True, timeout=240, env=os.environ | {"PATH": f"{launcher.parent}:{os.environ['PATH']}"}
    )
    assert_same(Solutions.load(out, solver), expected)
