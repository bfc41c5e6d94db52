"""A fork waits for the work of other threads. Each in a process of its own, since a test that fails would hang."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks")

START = """
import os, threading
from trisweep.forks import hold_at_fork, no_fork

def child_says(check):
    child = os.fork()
    if child == 0:
        os._exit(0 if check() else 7)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


def run(code):
    process = subprocess.run(
        [sys.executable, "-W", "ignore:This process:DeprecationWarning", "-c", START + code],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert (process.returncode, process.stdout.split(), process.stderr) == (0, ["done"], "")


def test_a_fork_comes_after_what_another_thread_is_at():
    run("""
inside, left = threading.Event(), []
def work():
    with no_fork(), no_fork():
        inside.set()
        for _ in range(200_000):
            pass
        left.append(True)
thread = threading.Thread(target=work)
thread.start()
inside.wait()
assert child_says(lambda: left == [True])
thread.join()
print("done")
""")


def test_who_forks_amid_work_of_its_own_does_not_wait_for_itself():
    run("""
with no_fork():
    def check():
        with no_fork():
            return True
    assert child_says(check)
    assert child_says(check)
print("done")
""")


def test_two_threads_that_fork_amid_work_of_their_own_both_go_on():
    run("""
both = threading.Barrier(2)
said = []
def work():
    with no_fork():
        both.wait()
        said.append(child_says(lambda: True))
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert said == [True, True]
print("done")
""")


def test_who_works_over_and_over_does_not_keep_a_fork_waiting():
    run("""
at_it, end = threading.Barrier(3), threading.Event()
def work():
    at_it.wait()
    while not end.is_set():
        with no_fork():
            sum(range(10_000))
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
at_it.wait()
for _ in range(20):
    assert child_says(lambda: True)
end.set()
for thread in threads:
    thread.join()
print("done")
""")


def test_locks_that_are_held_at_a_fork_are_free_in_both():
    run("""
lock = threading.RLock()
hold_at_fork(lock)
inside = threading.Event()
def work():
    with lock:
        inside.set()
        for _ in range(200_000):
            pass
thread = threading.Thread(target=work)
thread.start()
inside.wait()
assert child_says(lambda: lock.acquire(timeout=10))
thread.join()
assert lock.acquire(timeout=10)
print("done")
""")
