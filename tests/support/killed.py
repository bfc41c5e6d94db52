"""Processes that are killed at every moment of an action: before its first line, its second, and so on."""

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


def killed_at_every_line(setup: str, *arguments: object, within: str) -> int:
    """Run act(n) in a process that dies before the n-th line in files whose path contains `within`, then look(n).

    Both are functions that `setup` defines; the rounds end with the first process that lives. Returns their number.
    """
    if sys.platform == "win32":
        pytest.skip("forks, and kills by signal")
    driver = DRIVER.format(setup=setup, within=within)
    run = subprocess.run([sys.executable, "-c", driver, *map(str, arguments)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return int(run.stdout)
