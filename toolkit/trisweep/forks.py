"""Forks amid the work of other threads: they wait until it is at rest.

The child of a fork has the thread that forked and no other. What another one held at that moment, a lock of CasADi's or
of LLVM's, is held in the child for ever. So a fork waits until no other thread is in `no_fork`, and takes the locks
that `hold_at_fork` was told of; those of CasADi's come last (`native.compiler.casadi_locks`). Programs that are started
(`subprocess`) are no concern, and do not wait.
"""

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import Any

_at_rest = threading.Condition()
_inside: dict[int, int] = {}  # by thread, how deep
_forking = 0  # threads that wait, or are at it: others enter later
_held: list[contextlib.AbstractContextManager[Any]] = []


@contextlib.contextmanager
def no_fork() -> Iterator[None]:
    """Whoever wants to fork on another thread waits until this one has left, so let it be for seconds at most."""
    me = threading.get_ident()
    with _at_rest:
        if me not in _inside:
            _at_rest.wait_for(lambda: _forking == 0)
        _inside[me] = _inside.get(me, 0) + 1
    try:
        yield
    finally:
        with _at_rest:
            _inside[me] -= 1
            if _inside[me] == 0:
                del _inside[me]
                _at_rest.notify_all()


def hold_at_fork(lock: contextlib.AbstractContextManager[Any]) -> None:
    """Have this lock taken at every fork, after the wait, and free again in both processes."""
    _held.append(lock)


def _before() -> None:
    global _forking
    me = threading.get_ident()
    _at_rest.acquire()
    _forking += 1
    depth = _inside.pop(me, 0)  # who waits here is at rest: two that fork amid work of their own do not wait in a ring
    _at_rest.notify_all()
    try:
        _at_rest.wait_for(lambda: not _inside)
    finally:
        if depth:
            _inside[me] = depth
    for lock in _held:
        lock.__enter__()


def _after() -> None:
    global _forking
    try:
        for lock in reversed(_held):
            lock.__exit__(None, None, None)
    finally:  # whatever a signal's handler raises meanwhile
        _forking -= 1
        _at_rest.notify_all()
        _at_rest.release()


def _after_in_child() -> None:
    global _at_rest, _forking
    _after()
    _at_rest, _forking = threading.Condition(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after_in_child)
