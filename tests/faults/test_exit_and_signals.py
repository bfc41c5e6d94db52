"""What ends a process or a solve from outside: the end of the script, signals, a fork. Each in a process of its own."""

import os
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and forks")

LONG = """
import os, signal, sys, threading, time
import numpy as np
import trisweep as ts

def problem(steps):
    ocp = ts.Problem(steps=steps, step=0.01)
    x, u = ocp.state("x", 2), ocp.control("u", lower=-1, upper=1)
    ocp.derivative(x=ts.vertcat(x[1], u - ts.sin(x[0])))
    ocp.minimize(u**2 + 0.1 * ts.sumsqr(x))
    ocp.constrain("start", x, equals=[0, 0], at="start")
    ocp.constrain("end", x, equals=[0.1, 0], at="end")
    return ocp

solver = problem(100).build()
endless = problem(2000).build()
"""

# A thread that builds, and never ends.
BUILDING = """
os.environ["TRISWEEP_CACHE"] = "off"
under_way = threading.Event()
def work():
    while True:
        under_way.set()
        problem(100).build()
threading.Thread(target=work, daemon=True).start()
under_way.wait()
"""


def run(code, *, ignore_interrupts=False, timeout=100):
    """A process that reads the code; its whole group is ended where it hangs."""
    script = LONG + code
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=(lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if ignore_interrupts else None,
    )
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        pytest.fail(f"it hangs: {out} {err}")
    return process.returncode, out.split(), err


@pytest.mark.parametrize("how", ["", "callback=lambda each: None", "settings=ts.Settings(portfolio=True)"])
def test_a_script_ends_while_a_daemon_thread_solves(how):
    """The thread solves over and over, so that it comes back to an interpreter that is on its way out."""
    code = f"""
under_way = threading.Event()
def work():
    while True:
        for each in (solver, endless):
            under_way.set()
            each.solve({how})
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
under_way.wait()
print("end", flush=True)
"""
    for _ in range(3):
        assert run(code) == (0, ["end"], "")


RAISED = """
class Alarm(Exception):
    pass

def handle(number, frame):
    {handler}

signal.signal(signal.{name}, handle)

def watch(each):
    if each.iteration == 2:
        {send}
    return False

try:
    print(solver.solve(callback=watch).status.replace(" ", "-"))
except Alarm:
    print("alarm")
signal.signal(signal.{name}, signal.SIG_IGN)
print(solver.solve().status)
"""


@pytest.mark.parametrize("name", ["SIGALRM", "SIGTERM", "SIGUSR1", "SIGINT"])
def test_what_a_handler_raises_is_raised_when_the_solve_has_come_to_rest(name):
    code = RAISED.format(name=name, handler="raise Alarm", send=f"os.kill(os.getpid(), signal.{name})")
    assert run(code) == (0, ["alarm", "solved"], "")


def test_a_service_that_is_told_to_end_ends():
    code = RAISED.format(name="SIGTERM", handler="sys.exit(7)", send="os.kill(os.getpid(), signal.SIGTERM)")
    assert run(code)[:2] == (7, [])


def test_an_interrupt_is_a_status_however_the_process_was_started():
    code = """
signal.signal(signal.SIGINT, signal.default_int_handler)
print(solver.solve(callback=lambda each: each.iteration == 2 and os.kill(os.getpid(), signal.SIGINT)).status)
print(solver.solve().status)
"""
    for ignored in (False, True):
        assert run(code, ignore_interrupts=ignored) == (0, ["interrupted", "solved"], "")


def test_a_signal_is_seen_between_iterations_without_any_callback():
    """Sent by another process; the solves go on until it has come. It waits until the fork is over: what is raised in
    Python's own hooks at a fork is lost.
    """
    code = """
class Alarm(Exception):
    pass

def handle(number, frame):
    raise Alarm

signal.signal(signal.SIGUSR1, handle)
parent = os.getpid()
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
if os.fork() == 0:
    os.kill(parent, signal.SIGUSR1)
    os._exit(0)
try:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
    while True:
        endless.solve()
except Alarm:
    print("alarm")
print(endless.solve().status)
"""
    assert run(code) == (0, ["alarm", "solved"], "")


def test_a_fork_while_another_thread_solves():
    code = """
under_way = threading.Event()
def work():
    while True:
        endless.solve(callback=lambda each: under_way.set())
threading.Thread(target=work, daemon=True).start()
under_way.wait()
child = os.fork()
if child == 0:
    for each in (endless, solver):
        for threads in (1, 2):
            assert each.solve(settings=ts.Settings(threads=threads)).status == "solved"
    assert problem(90).build().solve().status == "solved"
    print("child", flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print("parent", flush=True)
"""
    assert run(code)[:2] == (0, ["child", "parent"])


@pytest.mark.parametrize("settings", ["", "threads=2", "portfolio=True"])
def test_a_fork_amid_a_solve(settings):
    """By a callback; the child goes on with the solve that it finds itself in, whatever threads that had."""
    code = f"""
settings, child = ts.Settings({settings}), None
def fork(each):
    global child
    child = os.fork() if child is None else child
while child is None:  # a portfolio's second way may be through with it before
    status = endless.solve(callback=fork, settings=settings).status
assert status == "solved"
if child == 0:
    assert endless.solve(settings=settings).status == "solved"
    os._exit(3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
assert endless.solve(settings=settings).status == "solved"
print("parent", flush=True)
"""
    assert run(code)[:2] == (0, ["parent"])


def test_a_fork_of_a_solver_with_threads():
    code = """
two = ts.Settings(threads=2)
before = solver.solve(settings=two)
child = os.fork()
if child == 0:
    again = solver.solve(settings=two)
    assert np.array_equal(again.point.z, before.point.z)
    assert solver.solve().status == "solved"
    sys.exit(3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
assert solver.solve(settings=two).status == "solved"
print("parent", flush=True)
"""
    assert run(code)[:2] == (0, ["parent"])


def test_a_fork_while_another_thread_compiles():
    """Forks at many moments of statements and builds, which go on for as long as there are forks."""
    code = (
        BUILDING
        + """
for _ in range(5):
    child = os.fork()
    if child == 0:
        assert problem(95).build().solve().status == "solved"
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
print("parent", flush=True)
"""
    )
    assert run(code)[:2] == (0, ["parent"])


def test_a_script_ends_while_a_daemon_thread_compiles():
    code = (
        BUILDING
        + """
print("end", flush=True)
"""
    )
    for _ in range(2):
        assert run(code)[:2] == (0, ["end"])
