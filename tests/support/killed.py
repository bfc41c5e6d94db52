"""Processes that are killed at every moment of an action: before its first line, its second, and so on; or by chance,
in the middle of what a line does.
"""

import subprocess
import sys

import pytest

DRIVER = """
import os, signal, sys

{setup}

def dies_at(n):
    count = 0
    def trace(frame, event, _):
        nonlocal count
        if {within!r} not in frame.f_code.co_filename:
            return None
        count += event == "line"
        if count == n:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace
    return trace

n = 0
while True:
    n += 1
    child = os.fork()
    if child == 0:
        sys.settrace(dies_at(n))
        act(n)
        sys.settrace(None)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    look(n)
    if status == 0:
        break
    assert os.WIFSIGNALED(status), status
print(n)
"""

AT_RANDOM = """
import os, random, select, signal, sys

{setup}

def round_of(n, delay):
    ready, begun = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(begun, b"!")
        while True:
            act(n)
    os.read(ready, 1)
    select.select([], [], [], delay)
    os.kill(child, signal.SIGKILL)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    os.close(ready), os.close(begun)
    look(n)

delays = random.Random(7)
for n in range({rounds}):
    round_of(n, {seconds} * delays.random())
print("nothing lost")
"""


def killed_at_random(setup: str, *arguments: object, seconds: float, rounds: int = 20) -> None:
    """The same act over and over in a process that is killed within so many seconds, then look(n)."""
    _run(AT_RANDOM.format(setup=setup, seconds=seconds, rounds=rounds), arguments)


def killed_at_every_line(setup: str, *arguments: object, within: str) -> int:
    """Run act(n) in a process that dies before the n-th line in files whose path contains `within`, then look(n).

    Both are functions that `setup` defines; the rounds end with the first process that lives. Returns their number.
    """
    return int(_run(DRIVER.format(setup=setup, within=within), arguments))


def _run(driver: str, arguments: tuple[object, ...]) -> str:
    if sys.platform == "win32":
        pytest.skip("forks, and kills by signal")
    run = subprocess.run([sys.executable, "-c", driver, *map(str, arguments)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout
